#include "shiplap/model/overlap_bound.hpp"

#include <algorithm>

namespace shiplap {
namespace {

using van_werkhoven_2014::Category;

Seconds busiest(const StageTimes& t, Category category) {
  switch (category) {
    case Category::implicit_sync_one_engine:
      return std::max(t.h2d, t.kernel) + t.d2h;
    case Category::one_engine:
      return std::max(t.transfers(), t.kernel);
    case Category::two_engines:
      break;
  }
  return std::max({t.h2d, t.kernel, t.d2h});
}

}  // namespace

double overlap_bound(const StageTimes& t, Category category) {
  return t.total() > Seconds{0} ? t.total() / busiest(t, category) : 1;
}

}  // namespace shiplap
