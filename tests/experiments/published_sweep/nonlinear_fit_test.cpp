#include "experiments/published_sweep/nonlinear_fit.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "shiplap/core/error.hpp"

namespace shiplap::experiments::published_sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// y = a·exp(−b·x) at x = 0 … 19, with `noise` added to each.
auto decay(double a, double b, const std::vector<double>& noise) {
  return [=](std::span<const double> p) {
    std::vector<double> out;
    for (std::size_t x = 0; x < noise.size(); ++x) {
      const auto at = static_cast<double>(x);
      out.push_back(p[0] * std::exp(-p[1] * at) - (a * std::exp(-b * at) + noise[x]));
    }
    return out;
  };
}

TEST(NonlinearFit, finds_the_parameters_behind_exact_data) {
  const auto fit = nonlinear_fit(decay(3e-6, 0.2, std::vector<double>(20, 0.0)), {1e-6, 1.0}, {.iterations = 100});
  EXPECT_TRUE(fit.converged);
  EXPECT_NEAR(fit.parameters[0] / 3e-6, 1, 1e-6);
  EXPECT_NEAR(fit.parameters[1] / 0.2, 1, 1e-6);
}

TEST(NonlinearFit, agrees_with_the_mean_and_its_standard_error) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(10, 0.5);
  std::vector<double> samples(400);
  for (double& s : samples) s = normal(random);
  const auto fit = nonlinear_fit(
      [&](std::span<const double> p) {
        std::vector<double> out;
        for (const double s : samples) out.push_back(p[0] - s);
        return out;
      },
      {1.0});
  double mean = 0;
  for (const double s : samples) mean += s / 400;
  double squares = 0;
  for (const double s : samples) squares += (s - mean) * (s - mean);
  EXPECT_NEAR(fit.parameters[0], mean, 1e-6);
  EXPECT_NEAR(fit.standard_errors[0] * mean, std::sqrt(squares / 399 / 400), 1e-4);
}

TEST(NonlinearFit, outliers_do_not_decide_a_robust_fit) {
  std::vector<double> noise(20, 0.0);
  noise[3] = 20;
  const auto plain = nonlinear_fit(decay(3, 0.2, noise), {1, 1}, {.iterations = 200});
  const auto robust = nonlinear_fit(decay(3, 0.2, noise), {1, 1}, {.iterations = 200, .outlier = 0.01});
  EXPECT_GT(std::abs(plain.parameters[0] / 3 - 1), 0.5);
  EXPECT_NEAR(robust.parameters[0] / 3, 1, 0.02);
}

TEST(NonlinearFit, a_parameter_on_which_nothing_depends_stays_and_has_no_error) {
  const auto fit = nonlinear_fit(
      [](std::span<const double> p) {
        return std::vector<double>{p[0] - 2, p[0] - 2.1, p[0] - 1.9};
      },
      {1, 5});
  EXPECT_NEAR(fit.parameters[0], 2, 1e-6);
  EXPECT_NEAR(fit.parameters[1], 5, 1e-12);
  EXPECT_TRUE(std::isfinite(fit.standard_errors[0]));
  EXPECT_TRUE(std::isinf(fit.standard_errors[1]));
}

TEST(NonlinearFit, refuses_what_cannot_be_fitted) {
  const auto two = [](std::span<const double> p) { return std::vector<double>(2, p[0]); };
  EXPECT_THAT([&] { nonlinear_fit(two, {0.0}); }, ThrowsMessage<Error>(HasSubstr("positive")));
  EXPECT_THAT([&] { nonlinear_fit(two, {1.0, 1.0, 1.0}); }, ThrowsMessage<Error>(HasSubstr("2 observations")));
  EXPECT_THAT([&] { nonlinear_fit([](auto) { return std::vector<double>{NAN}; }, {1.0}); },
              ThrowsMessage<Error>(HasSubstr("not finite")));
}

}  // namespace
}  // namespace shiplap::experiments::published_sweep
