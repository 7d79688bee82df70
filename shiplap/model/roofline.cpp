#include "shiplap/model/roofline.hpp"

#include <algorithm>

namespace shiplap::roofline {
namespace {

// The least of several rates is computed as flops / the longest of several times, which avoids a division by 0 bytes.
Seconds computing(const Machine& m, const Traffic& t) { return Seconds{t.flops / m.flop_rate}; }
Seconds on_device(const Machine& m, const Traffic& t) {
  return std::max(computing(m, t), (t.reads + t.writes) / m.memory);
}

}  // namespace

double plain(const Machine& m, const Traffic& t) { return t.flops / on_device(m, t).count(); }

double full_overlap(const Machine& m, const Traffic& t) {
  return t.flops / std::max({on_device(m, t), t.in / m.h2d, t.out / m.d2h}).count();
}

double zero_overlap(const Machine& m, const Traffic& t) {
  return t.flops / (t.in / m.h2d + on_device(m, t) + t.out / m.d2h).count();
}

double zero_copy(const Machine& m, const Traffic& t) {
  return t.flops / std::max({computing(m, t), t.reads / m.h2d, t.writes / m.d2h}).count();
}

double as_printed::full_overlap(const Machine& m, const Traffic& t, Bandwidth link) {
  return t.flops / std::max(on_device(m, t), (t.in + t.out) / link).count();
}

double as_printed::zero_overlap(const Machine& m, const Traffic& t, Bandwidth link) {
  return t.flops / ((t.in + t.out) / link + on_device(m, t)).count();
}

double as_printed::zero_copy(const Machine& m, const Traffic& t, Bandwidth link) {
  return t.flops / std::max(computing(m, t), (t.reads + t.writes) / link).count();
}

}  // namespace shiplap::roofline
