// When an op runs by a prediction.
#pragma once

#include <gtest/gtest.h>

#include "shiplap/sim/simulate.hpp"

#define EXPECT_SPAN(prediction_, op_, from_us, to_us)                                \
  do {                                                                               \
    const Span span_ = (prediction_).timeline.spans.at((op_).index());               \
    EXPECT_NEAR(in_microseconds(span_.start), from_us, 1e-6) << "start of op " #op_; \
    EXPECT_NEAR(in_microseconds(span_.end), to_us, 1e-6) << "end of op " #op_;       \
  } while (false)
