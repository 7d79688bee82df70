// What --version prints: version, commit, parts of this build, and the file formats.
#pragma once

#include <string>
#include <string_view>

namespace shiplap::cli {

/// The version of the project, such as "0.1.0".
const char* version();

/// The git commit that was built, with "-dirty" when files were changed; "unknown" outside a checkout.
const char* commit();

/// The text of --version of this program.
std::string version_text(std::string_view program);

}  // namespace shiplap::cli
