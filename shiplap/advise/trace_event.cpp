#include "shiplap/advise/trace_event.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/core/printable.hpp"

namespace shiplap {
namespace {

using Count = TraceEvent::Count;

constexpr std::array event_times{std::pair{std::string_view("ts"), &TraceEvent::start},
                                 std::pair{std::string_view("dur"), &TraceEvent::duration}};
constexpr std::array event_counts{std::pair{std::string_view("id"), &TraceEvent::id},
                                  std::pair{std::string_view("totalGlobalMem"), &TraceEvent::gpu_memory}};
constexpr std::array event_texts{
    std::pair{std::string_view("ph"), &TraceEvent::phase}, std::pair{std::string_view("cat"), &TraceEvent::category},
    std::pair{std::string_view("name"), &TraceEvent::name}, std::pair{std::string_view("pid"), &TraceEvent::process},
    std::pair{std::string_view("tid"), &TraceEvent::thread}};
constexpr std::array arg_counts{
    std::pair{std::string_view("device"), &TraceEvent::device},
    std::pair{std::string_view("stream"), &TraceEvent::stream},
    std::pair{std::string_view("correlation"), &TraceEvent::correlation},
    std::pair{std::string_view("bytes"), &TraceEvent::bytes},
    std::pair{std::string_view("wait_on_stream"), &TraceEvent::awaited_stream},
    std::pair{std::string_view("wait_on_cuda_event_record_corr_id"), &TraceEvent::awaited_record},
    std::pair{std::string_view("wait_on_cuda_event_id"), &TraceEvent::awaited_event}};

/// The member of the event that a key stands for, or null.
template <class Members>
auto member_of(TraceEvent& event, const Members& members, std::string_view key) {
  const auto found = std::ranges::find(members, key, [](const auto& member) { return member.first; });
  return found == members.end() ? nullptr : &(event.*found->second);
}

/// Multiplies up to the largest number: a trace may have any dimensions.
void multiply(std::uint64_t& product, std::uint64_t factor) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  product = product > most / factor ? most : product * factor;
}

/// Takes what the parser of nlohmann::json finds in one object.
class EventBuilder {
 public:
  explicit EventBuilder(TraceEvent& event) : event_(event) {}

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_unsigned(Json::number_unsigned_t value) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (value <= most) number(static_cast<std::int64_t>(value), std::to_string(value));
    return true;
  }
  bool number_integer(Json::number_integer_t value) {
    number(value, std::to_string(value));
    return true;
  }
  bool number_float(Json::number_float_t value, const Json::string_t& digits) {
    constexpr double most = 4e15;  // doubles hold all whole numbers up to this one, and it is a time of 127 years
    if (!(std::abs(value) < most)) return true;
    const bool has_exponent = digits.find_first_of("eE") != digits.npos;
    number(std::llround(value), has_exponent ? std::to_string(std::llround(value)) : digits);
    return true;
  }
  bool string(const Json::string_t& text) {
    std::string* member = nullptr;
    if (is_in_event()) member = member_of(event_, event_texts, key_);
    if (is_in_args() && key_ == "name") member = &event_.label;
    if (member != nullptr) *member = printable(text);
    return true;
  }
  bool binary(const Json::binary_t&) { return true; }
  bool start_object(std::size_t) {
    if (depth_ == 1) args_are_open_ = key_ == "args";
    ++depth_;
    return true;
  }
  bool end_object() {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) {
    ++depth_;
    return true;
  }
  bool end_array() {
    --depth_;
    return true;
  }
  bool key(const Json::string_t& key) {
    key_ = key;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) { return false; }

 private:
  bool is_in_event() const { return depth_ == 1; }
  bool is_in_args() const { return depth_ == 2 && args_are_open_; }
  bool is_in_array_of_args() const { return depth_ == 3 && args_are_open_; }

  void number(Count value, const std::string& digits) {
    if (is_in_event()) number_of_event(value, digits);
    if (is_in_args())
      if (Count* const count = member_of(event_, arg_counts, key_)) *count = value;
    if (is_in_array_of_args() && value && *value > 0) {
      if (key_ == "grid") multiply(event_.blocks, static_cast<std::uint64_t>(*value));
      if (key_ == "block") multiply(event_.threads, static_cast<std::uint64_t>(*value));
    }
  }
  void number_of_event(Count value, const std::string& digits) {
    if (Count* const time = member_of(event_, event_times, key_)) *time = nanoseconds_of(digits);
    if (Count* const count = member_of(event_, event_counts, key_)) *count = value;
    if (key_ == "pid") event_.process = digits;
    if (key_ == "tid") event_.thread = digits;
  }

  TraceEvent& event_;
  std::string key_;
  std::size_t depth_ = 0;
  bool args_are_open_ = false;  // whether the object within the event, if there is one, is "args"
};

std::optional<TraceEvent> parsed_event(std::string_view text) {
  TraceEvent event;
  EventBuilder builder(event);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return event;
}

/// The first three digits of a fraction as thousandths, rounded by the fourth one.
std::int64_t thousandths_of(std::string_view digits) {
  std::int64_t thousandths = 0;
  for (std::size_t place = 0; place < 3; ++place)
    thousandths = 10 * thousandths + (place < digits.size() ? digits[place] - '0' : 0);
  return thousandths + (digits.size() > 3 && digits[3] >= '5' ? 1 : 0);
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2000;  // sums of two do not overflow
  const bool is_negative = microseconds.starts_with('-');
  if (is_negative) microseconds.remove_prefix(1);
  const std::size_t point = std::min(microseconds.find('.'), microseconds.size());
  std::int64_t whole = 0;
  const auto [parsed_to, error] = std::from_chars(microseconds.data(), microseconds.data() + point, whole);
  if (error != std::errc() || parsed_to != microseconds.data() + point || whole < 0 || whole >= most)
    return std::nullopt;
  const std::string_view fraction = microseconds.substr(std::min(point + 1, microseconds.size()));
  if (fraction.find_first_not_of("0123456789") != fraction.npos) return std::nullopt;
  const std::int64_t nanoseconds = 1000 * whole + thousandths_of(fraction);
  return is_negative ? -nanoseconds : nanoseconds;
}

std::optional<TraceEvent> trace_event(std::string_view text) {
  if (auto event = parsed_event(text)) return event;
  return parsed_event(printable(text));
}

}  // namespace shiplap
