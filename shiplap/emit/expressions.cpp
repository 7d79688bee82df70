#include "shiplap/emit/expressions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace shiplap {
namespace {

using Number = std::int64_t;

struct Line {
  Number factor = 0;
  Number constant = 0;
};

// The line value = factor · x + constant (factor > 0) through all values; nullopt without two different x. A line
// through only two values is accepted only when it passes through zero, because any two values have a line.
std::optional<Line> line(const Series& values, const auto& x) {
  std::optional<std::pair<Number, Number>> one;
  std::optional<Line> found;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!values[k]) continue;
    const std::optional<Number> at = x(k);
    if (!at) return std::nullopt;
    if (!one) one = {*at, *values[k]};
    if (found || *at == one->first) continue;
    const Number step = *at - one->first;
    if ((*values[k] - one->second) % step != 0) return std::nullopt;
    const Number factor = (*values[k] - one->second) / step;
    found = Line{factor, one->second - factor * one->first};
  }
  const auto known = std::ranges::count_if(values, [](const auto& value) { return value.has_value(); });
  if (!found || found->factor <= 0 || (known < 3 && found->constant != 0)) return std::nullopt;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] && *values[k] != found->factor * *x(k) + found->constant) return std::nullopt;
  return found;
}

// The smallest m for which the values are a multiple of key % m.
std::optional<std::pair<Number, Number>> cycle(const Series& values) {
  for (std::size_t m = 2; m < values.size(); ++m) {
    const auto found = line(values, [&](std::size_t k) { return std::optional<Number>(k % m); });
    if (found && found->constant == 0 && found->factor > 0) return std::pair{found->factor, static_cast<Number>(m)};
  }
  return std::nullopt;
}

std::string plus(Number constant) {
  return constant == 0 ? "" : fmt::format(" {} {}", constant < 0 ? '-' : '+', std::abs(constant));
}

std::string times(const std::string& what, Number factor, const std::string& name) {
  return factor == 1 ? what : fmt::format("{} * {}", what, name);
}

}  // namespace

bool mentions(const std::string& text, const std::string& name) {
  const auto is_word = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if ((at == 0 || !is_word(at - 1)) && !is_word(at + name.size())) return true;
  return false;
}

Expressions::Expressions(Series first, Series items, std::int64_t all_items, std::uint32_t keys, std::string keys_name)
    : first_(std::move(first)),
      items_(std::move(items)),
      all_items_(all_items),
      keys_(keys),
      keys_name_(std::move(keys_name)) {
  if (keys_ > 1) constant(keys_name_, keys_);
}

std::string Expressions::constant(const std::string& name, Number value) {
  const auto found = std::ranges::find(constants_, name, &Constant::name);
  if (found != constants_.end()) return found->value == value ? name : std::to_string(value);
  constants_.push_back({name, value});
  return name;
}

std::string Expressions::table(const std::string& name, std::vector<Number> values) {
  for (int n = 1;; ++n) {
    const std::string numbered = n == 1 ? name : fmt::format("{}_{}", name, n);
    const auto found = std::ranges::find(tables_, numbered, &std::pair<std::string, std::vector<Number>>::first);
    if (found != tables_.end() && found->second != values) continue;
    if (found == tables_.end()) tables_.emplace_back(numbered, std::move(values));
    return numbered;
  }
}

std::string Expressions::value(const Series& values, const Names& names, const std::string& key) {
  std::vector<Number> all;
  for (const auto& value : values)
    if (value) all.push_back(*value);
  const bool same = std::ranges::all_of(all, [&](Number v) { return v == all.front(); });
  if (key.empty() || (same && all.size() == 1)) {
    const Number only = all.front();
    if (only == all_items_ && names.constant == "items") return "all_items";
    return names.constant.starts_with("bytes_") || names.constant == "blocks" ? constant(names.constant, only)
                                                                              : std::to_string(only);
  }
  const auto first = [&](std::size_t k) { return first_[k]; };
  const auto items = [&](std::size_t k) { return items_[k]; };
  const auto at_key = [](std::size_t k) { return std::optional<Number>(k); };
  const auto of = [&](const auto& x) {
    if (names.factor <= 0) return false;
    for (std::size_t k = 0; k < values.size(); ++k)
      if (values[k] && (!x(k) || *values[k] != names.factor * *x(k))) return false;
    return true;
  };
  const auto per_item = [&](const char* what, Number factor) {
    return times(what, factor, factor == 1 ? "" : constant(names.per_item, factor));
  };
  if (same && all.front() == 0) return "0";
  if (!names.by_key && of(items)) return per_item("items", names.factor);
  if (!names.by_key && of(first)) return per_item("first", names.factor);
  if (same) return constant(names.constant, all.front());
  if (!names.by_key)
    for (const auto& [what, found] : {std::pair{"first", line(values, first)}, {"items", line(values, items)}})
      if (found) return per_item(what, found->factor) + plus(found->constant);
  if (const auto found = line(values, at_key))
    return times(key, found->factor, found->factor == 1 ? "" : constant(names.stride, found->factor)) +
           plus(found->constant);
  if (const auto found = cycle(values)) {
    const std::string place = fmt::format("{} % {}", key, constant(names.places, found->second));
    return times(place, found->first, found->first == 1 ? "" : constant(names.stride, found->first));
  }
  for (const auto& [what, found] : {std::pair{"first", line(values, first)}, {"items", line(values, items)}})
    if (found) return per_item(what, found->factor) + plus(found->constant);
  std::vector<Number> listed;
  for (const auto& value : values) listed.push_back(value.value_or(0));
  return fmt::format("{}[{}]", table(names.constant + "_of", std::move(listed)), key);
}

std::string Expressions::offset(const Series& values, const Names& names, const std::string& key) {
  const std::string text = value(values, names, key);
  return text == "0" ? "" : " + " + text;
}

std::string Expressions::count(Number number) const {
  for (const Constant& known : constants_)
    if (known.value == number && (known.name == "ring" || known.name == "places" || known.name == "workers"))
      return known.name;
  return std::to_string(number);
}

std::string Expressions::condition(const std::vector<bool>& when, const std::vector<bool>& within,
                                   const std::string& key, const std::string& name) {
  if (when == within || key.empty()) return "";
  const auto n = static_cast<Number>(when.size());
  const auto holds = [&](const auto& rule) {
    for (Number k = 0; k < n; ++k)
      if (within[k] && when[k] != rule(k)) return false;
    return true;
  };
  const Number low = std::ranges::find(when, true) - when.begin();
  const Number high = n - (std::find(when.rbegin(), when.rend(), true) - when.rbegin());  // one past the last key
  const std::string last = n - high == 1 ? keys_name_ + " - 1" : fmt::format("{} - {}", keys_name_, count(n - high));
  if (high == low + 1) return fmt::format("{} == {}", key, low == n - 1 ? keys_name_ + " - 1" : std::to_string(low));
  if (holds([&](Number k) { return k >= low; })) return fmt::format("{} >= {}", key, count(low));
  if (holds([&](Number k) { return k < high; })) return fmt::format("{} < {}", key, last);
  if (holds([&](Number k) { return k >= low && k < high; }))
    return fmt::format("{0} >= {1} && {0} < {2}", key, count(low), last);
  for (Number m = 2; m < n; ++m)
    for (const bool from_low : {false, true})
      if (holds([&](Number k) { return k % m == low % m && (!from_low || k >= low); }))
        return fmt::format("{} % {} == {}{}", key, count(m), low % m,
                           from_low && low >= m ? fmt::format(" && {} >= {}", key, count(low)) : "");
  return fmt::format("{}[{}] != 0", table(name, std::vector<Number>(when.begin(), when.end())), key);
}

bool Expressions::is_level(bool but_the_last) const {
  const std::size_t end = keys_ - (but_the_last ? 1 : 0);
  for (std::size_t k = 0; k < keys_; ++k) {
    if (!first_[k] || !items_[k] || *first_[k] != static_cast<Number>(k) * *items_[0]) return false;
    if (k < end && *items_[k] != *items_[0]) return false;
  }
  return *first_[keys_ - 1] + *items_[keys_ - 1] == all_items_;
}

std::string Expressions::first_text(const std::string& key) {
  if (is_level(true)) return fmt::format("{} * {}", key, constant("chunk_items", *items_[0]));
  std::vector<Number> starts;
  for (const auto& first : first_) starts.push_back(first.value_or(0));
  if (items_.back()) starts.push_back(starts.back() + *items_.back());
  return fmt::format("{}[{}]", table("starts", std::move(starts)), key);
}

std::string Expressions::items_text(const std::string& key) {
  if (is_level(false)) return constant("chunk_items", *items_[0]);
  if (is_level(true))
    return fmt::format("{0} == {1} - 1 ? all_items - first : {2}", key, keys_name_,
                       constant("chunk_items", *items_[0]));
  bool adjoining = items_.back().has_value();
  for (std::size_t k = 0; k + 1 < keys_; ++k)
    adjoining = adjoining && first_[k] && items_[k] && first_[k + 1] && *first_[k] + *items_[k] == *first_[k + 1];
  if (adjoining) return fmt::format("starts[{} + 1] - first", key);
  std::vector<Number> counts;
  for (const auto& items : items_) counts.push_back(items.value_or(0));
  return fmt::format("{}[{}]", table("item_counts", std::move(counts)), key);
}

std::string Expressions::definitions(const std::string& body, const std::string& key) {
  std::string text;
  const std::string items = mentions(body, "items") ? items_text(key) : "";
  if (mentions(body, "first") || mentions(items, "first"))
    text += fmt::format("const std::uint64_t first = {};\n", first_text(key));
  if (!items.empty()) text += fmt::format("const std::uint64_t items = {};\n", items);
  return text;
}

}  // namespace shiplap
