// Reading and writing profiles as JSON (docs/schema/profile.schema.json).
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/profile/evidence.hpp"
#include "shiplap/profile/json_text.hpp"
#include "shiplap/profile/object_json.hpp"
#include "shiplap/profile/parameter_bytes.hpp"

namespace shiplap {
namespace {

void check_peer_ends(const JsonReader& in, const std::vector<PeerModel>& peers, std::size_t gpus) {
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const JsonReader peer = in.at(i);
    for (const char* end : {"from", "to"})
      if (peer.at(end).value() >= gpus)
        peer.at(end).fail(fmt::format("the index of one of the {} entries of \"gpus\"", gpus));
    if (peers[i].from == peers[i].to) peer.at("to").fail("another GPU than \"from\"");
    for (std::size_t k = 0; k < i; ++k)
      if (peers[k].from == peers[i].from && peers[k].to == peers[i].to)
        peer.fail(fmt::format("one entry for each pair of GPUs, and peers[{}] is this one too", k));
  }
}

void check_shared(const JsonReader& in, const std::vector<SharedRates>& shared, std::size_t gpus) {
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const std::vector<std::uint16_t>& of = shared[i].gpus;
    if (of.size() < 2 || !std::ranges::is_sorted(of, std::less_equal<>{}) || of.back() >= gpus)
      in.at(i).at("gpus").fail(fmt::format("increasing indices of two or more of the {} entries of \"gpus\"", gpus));
  }
}

void check_link_ends(const JsonReader& in, const std::vector<LinkModel>& links, std::size_t gpus) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].gpu >= gpus)
      in.at(i).at("gpu").fail(fmt::format("the index of one of the {} entries of \"gpus\"", gpus));
    for (std::size_t k = 0; k < i; ++k)
      if (links[k].gpu == links[i].gpu && links[k].numa_node == links[i].numa_node)
        in.at(i).fail(fmt::format("one link for each pair of NUMA node and GPU, and links[{}] is this one too", k));
  }
}

template <class Part>
Json objects_json(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts) list.push_back(ObjectWriter::object(part));
  return list;
}

/// The members of a profile on which predictions depend.
Json parameters_json(const Profile& profile) {
  Json json{{"gpus", objects_json(profile.gpus)},
            {"links", objects_json(profile.links)},
            {"peers", objects_json(profile.peers)},
            {"host", profile.host ? ObjectWriter::object(*profile.host) : Json(nullptr)},
            {"submission", ObjectWriter::object(profile.submission)}};
  if (!profile.shared.empty()) json["shared"] = objects_json(profile.shared);
  return json;
}

/// Bytes that are equal for profiles with equal parameters.
std::string parameter_bytes(const Profile& profile) {
  ParameterBytes all;
  all.add_all(profile.gpus);
  all.add_all(profile.links);
  all.add_all(profile.peers);
  all.add_all(profile.host ? std::vector{*profile.host} : std::vector<HostModel>{});
  all.add(profile.submission);
  all.add_all(profile.shared);
  return std::move(all.bytes);
}

/// The entries of a list, without any key that their description lacks.
template <class T>
std::vector<T> read_whole_records(const JsonReader& in) {
  return ListOf<T, WholeRecord<T>>{}.read(in);
}

/// Removes absent values, so that a new kind of parameter does not change the hash of profiles without it.
void erase_absent(Json& json) {
  if (json.is_object())
    for (auto member = json.begin(); member != json.end();)
      member = member->is_null() ? json.erase(member) : std::next(member);
  for (Json& member : json)
    if (member.is_structured()) erase_absent(member);
}

/// Reads the output of `parameters_json`. `profile.missing` must have been read before.
void read_parameters(const JsonReader& in, Profile& profile) {
  const Explanations missing(profile.missing);
  const auto objects = [&]<class T>(const char* name, std::vector<T>& into) {
    into = read_list(in.at(name), [&](const JsonReader& item, std::size_t i) {
      T object{};
      ObjectReader::read_object(item, fmt::format("{}[{}]", name, i), missing, object);
      return object;
    });
  };
  objects("gpus", profile.gpus);
  if (profile.gpus.empty() || profile.gpus.size() > limits::gpus)
    in.at("gpus").fail(fmt::format("at least one GPU, and at most {}", limits::gpus));
  objects("links", profile.links);
  missing.list(in.at("links"), "links");
  check_link_ends(in.at("links"), profile.links, profile.gpus.size());
  objects("peers", profile.peers);
  check_peer_ends(in.at("peers"), profile.peers, profile.gpus.size());
  if (const auto shared = in.find("shared")) {
    objects("shared", profile.shared);
    check_shared(*shared, profile.shared, profile.gpus.size());
  }
  if (const auto host = missing.optional(in, "host", "host", true)) {
    ObjectReader::read_object(*host, "host", missing, profile.host.emplace());
    missing.require_used(*host, "host");
  }
  ObjectReader::read_object(in.at("submission"), "submission", missing, profile.submission);
}

}  // namespace

Json to_json(const Profile& profile) {
  Json json{{"schema", formats::profile.schema},
            {"version", formats::profile.version},
            {"name", profile.name},
            {"origin", to_string(profile.origin)},
            {"source", profile.source},
            {"conditions", Json(profile.conditions)}};
  json.update(parameters_json(profile));
  json["missing"] = Form<std::vector<Missing>>{}.write(profile.missing);
  json["residuals"] = Form<std::vector<Residual>>{}.write(profile.residuals);
  json["measurements"] = Form<std::vector<Measurement>>{}.write(profile.measurements);
  return json;
}

Profile profile_from_json(const Json& json, const std::string& source) {
  const JsonReader in(json, source);
  require_schema(in, formats::profile);
  in.only_keys({"schema", "version", "name", "origin", "source", "conditions", "gpus", "links", "peers", "shared",
                "host", "submission", "missing", "residuals", "measurements"});
  Profile profile;
  profile.name = NonEmptyText::read(in.at("name"));
  profile.origin = Form<Origin>::read(in.at("origin"));
  profile.source = NonEmptyText::read(in.at("source"));
  profile.conditions = Form<Conditions>::read(in.at("conditions"));
  profile.missing = read_whole_records<Missing>(in.at("missing"));
  if (profile.missing.size() > limits::explanations)
    in.at("missing").fail(fmt::format("at most {} entries", limits::explanations));
  read_parameters(in, profile);
  profile.residuals = read_whole_records<Residual>(in.at("residuals"));
  profile.measurements = read_whole_records<Measurement>(in.at("measurements"));
  return profile;
}

Profile load_profile(const std::string& path) { return profile_from_json(read_json_file(path), path); }

void save_profile(const Profile& profile, const std::string& path) {
  const Json json = to_json(profile);
  // Reading the JSON back refuses an invalid profile now, instead of when the file is loaded.
  profile_from_json(json, path);
  write_document(path, readable_text(json));
}

std::string parameter_hash(const Profile& profile) {
  // Making the text of all parameters takes longer than a plan of a small job, and plans follow each other with one
  // profile.
  struct Known {
    std::string parameters;
    std::string hash;
  };
  constexpr std::size_t most_known = 4;
  thread_local std::vector<Known> known;  // the one that was used last is the last
  std::string parameters = parameter_bytes(profile);
  const auto found = std::ranges::find(known, parameters, &Known::parameters);
  if (found != known.end()) {
    std::rotate(found, found + 1, known.end());
    return known.back().hash;
  }
  Json json = parameters_json(profile);
  for (Json& gpu : json["gpus"]) gpu.erase("name");  // no predicted time depends on it
  erase_absent(json);
  if (known.size() == most_known) known.erase(known.begin());
  known.push_back({std::move(parameters), content_hash(json_text(json))});
  return known.back().hash;
}

}  // namespace shiplap
