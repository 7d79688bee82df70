// Finds C++ expressions for numbers that depend on the chunk: "c * stride_x", "first * item_x", or a table where no
// formula fits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shiplap {

/// A number for each key (of a chunk or an agent); nullopt for keys that have none.
using Series = std::vector<std::optional<std::int64_t>>;

/// Finds expressions whose values are exactly the given numbers, and collects the constants and tables that they use.
class Expressions {
 public:
  /// `first` and `items` are the first item and the number of items of each chunk. `keys_name` is the name of the
  /// constant for the number of keys.
  Expressions(Series first, Series items, std::int64_t all_items, std::uint32_t keys, std::string keys_name);

  struct Names {
    std::string constant;         ///< name of a constant number, or of a table
    std::string per_item;         ///< name of the factor of `first` and `items`
    std::int64_t factor = 0;      ///< value of that factor, where it is known
    std::string stride;           ///< name of the factor of the key
    std::string places = "ring";  ///< name of the number of keys after which the values repeat
    bool by_key = false;          ///< prefer expressions of the key to those of `first`
  };
  /// Expression of the series in a loop over `key`; a number when `key` is empty.
  std::string value(const Series&, const Names&, const std::string& key);
  /// The text " + " and the expression; empty when all values are 0.
  std::string offset(const Series&, const Names&, const std::string& key);
  /// Condition that selects the keys in `when` among those in `within`, as in "c >= ring"; empty when it selects all.
  std::string condition(const std::vector<bool>& when, const std::vector<bool>& within, const std::string& key,
                        const std::string& table);

  /// Name of a number of keys, as in "ring", if it has one; else the number.
  std::string count(std::int64_t) const;

  struct Constant {
    std::string name;
    std::int64_t value = 0;
  };
  /// Defines a constant and returns its name, or returns the number when the name already has another value.
  std::string constant(const std::string& name, std::int64_t value);
  const std::vector<Constant>& constants() const { return constants_; }
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& tables() const { return tables_; }

  /// Definitions of `first` and `items`, as far as `body` uses them.
  std::string definitions(const std::string& body, const std::string& key);

 private:
  std::string table(const std::string& name, std::vector<std::int64_t> values);
  std::string first_text(const std::string& key);
  std::string items_text(const std::string& key);
  bool is_level(bool but_the_last) const;

  Series first_;
  Series items_;
  std::int64_t all_items_;
  std::uint32_t keys_;
  std::string keys_name_;
  std::vector<Constant> constants_;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> tables_;
};

/// Whether `text` contains `name` as a whole word.
bool mentions(const std::string& text, const std::string& name);

}  // namespace shiplap
