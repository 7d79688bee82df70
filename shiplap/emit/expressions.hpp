// Numbers of the chunks as expressions of C++: "c * stride_x", "first * item_x", a table where there is no rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shiplap {

/// A number for each key; none where it means nothing.
using Series = std::vector<std::optional<std::int64_t>>;

/// Finds expressions that give exactly the numbers that it is shown, and keeps the constants and tables in them.
class Expressions {
 public:
  /// `first` and `items` of each chunk; `key` is the name of the loop's variable.
  Expressions(Series first, Series items, std::int64_t all_items, std::uint32_t keys, std::string keys_name);

  struct Names {
    std::string constant;         ///< of a number that is the same for all, or of a table
    std::string per_item;         ///< of a factor of `first` and `items`
    std::int64_t factor = 0;      ///< that factor, where it is known
    std::string stride;           ///< of a factor of the key
    std::string places = "ring";  ///< of the number of keys after which it starts again
    bool by_key = false;          ///< rather by the key than by `first`
  };
  /// In the loop whose variable is `key`; a number where `key` is empty.
  std::string value(const Series&, const Names&, const std::string& key);
  /// " + " and the value; nothing for zeros.
  std::string offset(const Series&, const Names&, const std::string& key);
  /// Which of the keys in `within` those in `when` are: "c >= ring". Empty: all of them.
  std::string condition(const std::vector<bool>& when, const std::vector<bool>& within, const std::string& key,
                        const std::string& table);

  /// "c - ring" and the like, of a number of keys.
  std::string count(std::int64_t) const;

  struct Constant {
    std::string name;
    std::int64_t value = 0;
  };
  /// The name of the constant; the number itself where the name has another value already.
  std::string constant(const std::string& name, std::int64_t value);
  const std::vector<Constant>& constants() const { return constants_; }
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& tables() const { return tables_; }

  /// The definitions of `first` and `items` for a body that uses them.
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

/// Whether a text has the name in it as a word.
bool mentions(const std::string& text, const std::string& name);

}  // namespace shiplap
