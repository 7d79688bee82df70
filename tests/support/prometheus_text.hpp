// Reads Prometheus' text format 0.0.4, strictly, and complains about what it forbids.
#pragma once

#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace shiplap {

class PrometheusText {
 public:
  struct Sample {
    std::string name;
    std::map<std::string, std::string> labels;
    double value = 0;
  };

  explicit PrometheusText(const std::string& text) {
    if (text.empty() || text.back() != '\n') problems_.push_back("the last line does not end");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) read_line(line);
    for (const auto& [name, type] : types_)
      if (!sampled_.contains(name)) problems_.push_back(name + " has no sample");
  }

  const std::vector<std::string>& problems() const { return problems_; }
  const std::vector<Sample>& samples() const { return samples_; }
  /// The value of the sample that has these labels, and maybe others.
  std::optional<double> value(const std::string& name, const std::map<std::string, std::string>& labels) const {
    for (const Sample& sample : samples_) {
      bool same = sample.name == name;
      for (const auto& [label, text] : labels)
        same = same && sample.labels.contains(label) && sample.labels.at(label) == text;
      if (same) return sample.value;
    }
    return std::nullopt;
  }

 private:
  static bool is_name(const std::string& name) {
    bool right = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
    for (const char c : name) right = right && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_');
    return right;
  }

  void read_line(const std::string& line) {
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) return read_comment(line);
    Sample sample;
    std::size_t at = line.find_first_of("{ ");
    sample.name = line.substr(0, at);
    if (!is_name(sample.name)) return problems_.push_back("not a name: " + line);
    if (at == std::string::npos) return problems_.push_back("no value: " + line);
    if (line[at] == '{' && !read_labels(line, at, sample.labels)) return problems_.push_back("labels: " + line);
    const std::string number = line.substr(at + 1);
    char* end = nullptr;
    sample.value = std::strtod(number.c_str(), &end);
    if (line[at] != ' ' || number.empty() || *end != '\0') return problems_.push_back("not a number: " + line);
    if (!helps_.contains(sample.name) || !types_.contains(sample.name))
      problems_.push_back("no HELP or TYPE before " + line);
    if (sampled_.contains(sample.name) && last_ != sample.name)
      problems_.push_back("the samples are not together: " + line);
    if (!seen_.insert({sample.name, sample.labels}).second) problems_.push_back("twice: " + line);
    last_ = sample.name;
    sampled_.insert(sample.name);
    samples_.push_back(std::move(sample));
  }

  void read_comment(const std::string& line) {
    std::istringstream words(line);
    std::string hash;
    std::string kind;
    std::string name;
    std::string rest;
    words >> hash >> kind >> name;
    std::getline(words >> std::ws, rest);
    if (!is_name(name) || rest.empty()) problems_.push_back("not a comment of a metric: " + line);
    static const std::set<std::string> known{"gauge", "counter", "histogram", "summary", "untyped"};
    if (kind == "TYPE" && !known.contains(rest)) problems_.push_back("not a type: " + line);
    if (sampled_.contains(name)) problems_.push_back("after its samples: " + line);
    if (kind == "HELP" ? !helps_.insert(name).second : !types_.emplace(name, rest).second)
      problems_.push_back("twice: " + line);
  }

  /// Reads {name="value",…} from `at`, and moves it behind the brace.
  static bool read_labels(const std::string& line, std::size_t& at, std::map<std::string, std::string>& labels) {
    ++at;
    while (at < line.size() && line[at] != '}') {
      const std::size_t equals = line.find("=\"", at);
      if (equals == std::string::npos) return false;
      const std::string name = line.substr(at, equals - at);
      std::string value;
      for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\') {
          if (++at == line.size() || std::string("\\\"n").find(line[at]) == std::string::npos) return false;
          value += line[at] == 'n' ? '\n' : line[at];
        } else {
          value += line[at];
        }
      }
      if (at >= line.size() || !is_name(name) || !labels.emplace(name, value).second) return false;
      if (line[++at] == ',') ++at;
    }
    return at++ < line.size();
  }

  std::vector<std::string> problems_;
  std::vector<Sample> samples_;
  std::set<std::string> helps_;
  std::map<std::string, std::string> types_;
  std::set<std::string> sampled_;
  std::set<std::pair<std::string, std::map<std::string, std::string>>> seen_;
  std::string last_;
};

}  // namespace shiplap
