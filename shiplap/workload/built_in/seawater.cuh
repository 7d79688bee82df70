// The density of sea water in the ocean model POP. Host and device use the same code, so they agree to the last bit.
// Programs that stand alone contain its text (program_text.hpp).
#pragma once

#include <cmath>

#include "shiplap/workload/view.hpp"

namespace shiplap::kernels {

/// The coefficients of the equation of state that depend on the pressure alone, for one level.
struct LevelTerms {
  double p1_0, p1_t2, p1_s;  // coefficients in the numerator of 1, of T squared and of S
  double p2_0, p2_t, p2_t3;  // coefficients in the denominator of 1, of T and of T cubed
};

/// The coefficients at a pressure in decibar.
SHIPLAP_HOST_DEVICE inline LevelTerms level_terms(double pressure) {
  const double p = pressure;
  return {fma(p, fma(p, -3.24041825e-8, 1.04004591e-2), 9.99843699e+2),
          fma(p, fma(p, -1.23869360e-11, 1.03970529e-7), -5.45928211e-2),
          fma(p, 5.18761880e-6, 2.96938239e+0),
          fma(p, 5.30848875e-6, 1.0),
          fma(p * p * p, -1.27934137e-17, 7.28606739e-3),
          fma(p * p, -3.03175128e-16, 3.68390573e-7)};
}

/// Temperature in °C and salinity in psu, within the range of the equation, and the root of the salinity.
struct Water {
  double t, s, root_s;
};

/// The water with a temperature in °C and a salinity in kg/kg, clamped to the range of the equation.
SHIPLAP_HOST_DEVICE inline Water water(double temperature, double salinity) {
  const double s = 1000.0 * fmin(fmax(salinity, 0.0), 0.999);
  return {fmin(fmax(temperature, -2.0), 999.0), s, sqrt(s)};
}

/// Numerator and denominator of the equation of McDougall, Wright, Jackett and Feistel (2003). All multiply-adds are
/// explicitly fused, so that every compiler gives the same bits.
struct Ratio {
  double p1, p2;
};
SHIPLAP_HOST_DEVICE inline Ratio ratio(const Water& w, const LevelTerms& level) {
  const double t = w.t;
  const double s = w.s;
  const double p1_t = fma(t, fma(t, 3.98476704e-4, level.p1_t2), 7.35212840e+0);
  const double p1_s = fma(s, 2.12382341e-3, fma(t, -7.23268813e-3, level.p1_s));
  const double p2_t = fma(t, fma(t, fma(t, 1.80809186e-10, level.p2_t3), -4.60835542e-5), level.p2_t);
  const double p2_s = fma(t, fma(t * t, -1.78343643e-10, -9.27062484e-6), 2.14691708e-3);
  const double p2_root = fma(t * t, 1.63410736e-9, 4.76534122e-6);
  return {fma(s, p1_s, fma(t, p1_t, level.p1_0)), fma(s, fma(w.root_s, p2_root, p2_s), fma(t, p2_t, level.p2_0))};
}

/// The density in g/cm³, the unit of POP.
SHIPLAP_HOST_DEVICE inline double density(const Water& w, const LevelTerms& level) {
  const Ratio r = ratio(w, level);
  return r.p1 / r.p2 * 0.001;
}

struct DensityAndDerivatives {
  double density;         // g/cm³
  double by_temperature;  // g/cm³/K
  double by_salinity;     // g/cm³ for each kg/kg
};
SHIPLAP_HOST_DEVICE inline DensityAndDerivatives density_and_derivatives(const Water& w, const LevelTerms& level) {
  const Ratio r = ratio(w, level);
  const double t = w.t;
  const double s = w.s;
  const double rho = r.p1 / r.p2;  // kg/m³
  const double p1_by_t = fma(s, -7.23268813e-3, fma(t, fma(t, 3 * 3.98476704e-4, 2.0 * level.p1_t2), 7.35212840e+0));
  const double p1_by_s = fma(s, 2 * 2.12382341e-3, fma(t, -7.23268813e-3, level.p1_s));
  const double p2_by_t =
      fma(s, fma(w.root_s, 2 * 1.63410736e-9 * t, fma(t * t, 3 * -1.78343643e-10, -9.27062484e-6)),
          fma(t, fma(t, fma(t, 4 * 1.80809186e-10, 3.0 * level.p2_t3), 2 * -4.60835542e-5), level.p2_t));
  const double p2_by_s = fma(1.5 * w.root_s, fma(t * t, 1.63410736e-9, 4.76534122e-6),
                             fma(t, fma(t * t, -1.78343643e-10, -9.27062484e-6), 2.14691708e-3));
  return {rho * 0.001, fma(-rho, p2_by_t, p1_by_t) / r.p2 * 0.001, fma(-rho, p2_by_s, p1_by_s) / r.p2};
}

/// The buoyancy difference in cm/s²: gravity times 1 - above / below, where both densities are at the same pressure. A
/// single division is enough.
SHIPLAP_HOST_DEVICE inline double buoyancy_difference(const Ratio& above, const Ratio& below) {
  constexpr double gravity = 980.6;  // cm/s²
  return below.p1 == 0 ? 0.0 : gravity * (1.0 - (above.p1 * below.p2) / (above.p2 * below.p1));
}

}  // namespace shiplap::kernels
