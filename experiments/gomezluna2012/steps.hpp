// The steps of the reproduction of Gómez-Luna et al. 2012.
#pragma once

#include "experiments/experiment.hpp"

namespace shiplap::experiments::gomez_luna {

StepResult scalar_tests(const Bench&);      ///< Figs 1, 2, 4
StepResult asymmetric_tests(const Bench&);  ///< Fig. 3
StepResult matmul_tests(const Bench&);      ///< Fig. 5, Table 2
StepResult histogram_tests(const Bench&);   ///< Fig. 6, Table 2
StepResult grayscale_tests(const Bench&);   ///< Fig. 7, Table 2
StepResult sequence(const Bench&);          ///< Table 3
StepResult edges(const Bench&);             ///< cases in which the printed equations are wrong
StepResult audit(const Bench&);             ///< published figures against published equations

}  // namespace shiplap::experiments::gomez_luna
