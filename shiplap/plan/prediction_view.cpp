#include "shiplap/plan/prediction_view.hpp"

#include <nlohmann/json.hpp>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/profile/enum_names.hpp"

namespace shiplap {
namespace {

/// The number of an answer in the answer's unit.
struct InUnitOfAnswer {
  std::string_view unit;
  Json write(const std::optional<double>& value) const { return quantity_json(*value, unit); }
  static Json schema() {
    Json schema = detail::quantity_schema({"value"}, "");
    schema["properties"]["unit"] = {{"enum", {"1", "ms", "GB/s", "GFLOP/s"}}};
    return schema;
  }
};

}  // namespace

template <class V, Like<PaperAnswer> R>
void describe(V& v, R& answer) {
  v.field("paper", answer.paper, "the publication, as in van-werkhoven-2014");
  v.field("question", answer.question, "the question, as in optimal number of chunks");
  v.field("source", answer.source, "the equation or the section");
  v.field("words", answer.words, "the answer in words, or the reason why there is none");
  v.only_if(answer.printed.has_value(), "printed", answer.printed, "the answer as printed",
            InUnitOfAnswer{answer.unit});
  v.only_if(answer.value.has_value(), "answer", answer.value,
            "the answer, corrected where the printed equation is wrong", InUnitOfAnswer{answer.unit});
}

template <class V, Like<ModelPrediction::Parts> R>
void describe(V& v, R& parts) {
  v.field("in", parts.in, "copies to the GPU; in the simulation of a GPU with one copy engine all copies");
  v.field("kernel", parts.kernel, "kernels");
  v.field("out", parts.out, "copies to the host");
  v.field("fixed", parts.fixed, "latencies and gaps on the critical path, and copies of arrays that stay on the GPU");
  v.field("submission", parts.submission, "time that the host needs to submit all ops");
}

template <class V, Like<ModelPrediction> R>
void describe(V& v, R& prediction) {
  const bool has_time = prediction.time.has_value();
  v.field("model", prediction.model, "the model, as in simulation or van-werkhoven-2014");
  v.only_if(has_time, "form", prediction.form, "the form, as in max(eq 3, eq 4)");
  v.only_if(has_time, "time", prediction.time, "predicted time");
  v.only_if(has_time, "assumption", prediction.assumption,
            "the assumption of the form that does not hold for the job; null where the form covers the job",
            NullIfEmpty<std::string>{});
  v.only_if(has_time, "parts", prediction.parts, "parts of the time, which overlap");
  v.only_if(!has_time, "why_not", prediction.why_not, "reason why the model has no time for this choice");
}

template <class V, Like<Elasticity> R>
void describe(V& v, R& elasticity) {
  v.field("quantity", elasticity.quantity, "the quantity that grows by one per cent");
  v.field("elasticity", elasticity.value, "by how many per cent the predicted time then grows");
}

template <class V, Like<ModelComparison> R>
void describe(V& v, R& comparison) {
  v.field("choice", comparison.choice, "the choice");
  v.field("predicted", comparison.simulation, "the time that plans use, with its prediction interval");
  v.field("models", comparison.models, "predictions of every model, the simulation first");
  v.field("elasticities", comparison.elasticities, "elasticities of the simulated time, the largest first");
}

template <class V, Like<PredictionView> R>
void describe(V& v, R& prediction) {
  v.header(formats::prediction);
  v.field("job", prediction.job, "name of the job");
  v.field("kernel_cost", prediction.kernel_cost, "origin of the kernel's cost");
  v.field("profile", prediction.profile, "name of the profile");
  v.field("profile_hash", prediction.profile_hash, "hash of the profile's parameters");
  v.field("profile_origin", prediction.profile_origin, "origin of the profile's figures");
  v.field("papers", prediction.papers, "answers of the publications");
  v.field("choices", prediction.choices, "the models' predictions of each choice");
}

Json to_json(const PredictionView& prediction) { return write_record(prediction); }
Json json_schema(const PredictionView&) {
  return document_schema<PredictionView>("shiplap prediction", "What `shiplap predict --json` prints.");
}

}  // namespace shiplap
