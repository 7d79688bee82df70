// Scripts and styles that the build puts into the library.
#pragma once

#include <string>
#include <vector>

namespace shiplap::page {

/// A file as text.
struct Asset {
  std::string name;  ///< name of the file without its ending
  std::string text;
};

/// The scripts of `shiplap/report/page/assets`.
std::vector<Asset> scripts();
/// The style sheets of the same folder.
std::vector<Asset> styles();
/// The plotting library, D3; empty when the build found none.
std::vector<Asset> plotting_library();

}  // namespace shiplap::page
