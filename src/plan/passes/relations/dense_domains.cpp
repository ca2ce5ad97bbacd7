#include "plan/passes/relations/dense_domains.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "plan/cost/calibration.hpp"
#include "plan/pass.hpp"

namespace gpulog::plan {
namespace {

/// Direct sources of the values of a column.
struct column_sources {
  std::set<column_place> places;
  wide_word largest_constant = 0;
  bool makes_values = false;
};

class domain_search {
 public:
  domain_search(const program& plan, const stratum& considered) : plan_(plan) {
    add_versions(considered.once);
    for (const phase& repeated : considered.loop) add_versions(repeated);
    const std::set<relation_id> own(considered.relations.begin(), considered.relations.end());
    for (const auto& [place, sources] : sources_) {
      number_of(place);
      for (const column_place& source : sources.places) number_of(source);
    }
    flows_.resize(places_.size());
    for (const auto& [place, sources] : sources_) {
      column_flow& flow = flows_[numbers_.at(place)];
      if (!own.contains(place.relation)) continue;
      flow.sources = &sources;
      for (const column_place& source : sources.places) flow.from.push_back(numbers_.at(source));
    }
  }

  [[nodiscard]] std::optional<relation_domain> find(relation_id id) const {
    const relation& searched = plan_.relations[id.value];
    const std::size_t arity = searched.kinds.size();
    if (arity < 1 || arity > 2 || searched.is_equivalence || !searched.choice_domains.empty()) return std::nullopt;
    relation_domain domains;
    domains.relation = id;
    for (std::uint32_t column = 0; column < arity; ++column) {
      auto domain = find({id, column});
      if (!domain) return std::nullopt;
      domains.columns.push_back(std::move(*domain));
    }
    return domains;
  }

 private:
  /// Sources of a column of the stratum; empty for other columns.
  struct column_flow {
    const column_sources* sources = nullptr;
    std::vector<std::uint32_t> from;
  };

  std::uint32_t number_of(column_place place) {
    const auto [known, is_new] = numbers_.emplace(place, static_cast<std::uint32_t>(places_.size()));
    if (is_new) places_.push_back(place);
    return known->second;
  }

  void add_versions(const phase& from) {
    for (const rule_version& version : from.versions) add_version(version);
  }

  /// Tracks the content of slots from operator to operator, because slots are written more than once.
  void add_version(const rule_version& version) {
    std::map<slot_id, column_sources> held;
    const auto bind = [&](relation_id from, const std::vector<column_binding>& bindings) {
      for (const column_binding& bound : bindings) {
        column_sources& source = held[bound.slot] = {};
        source.places.insert({from, bound.column});
        // The pairs of an equivalence relation are in no column.
        source.makes_values = plan_.relations[from.value].is_equivalence;
      }
    };
    const auto make = [&](slot_id slot) { held[slot] = {{}, 0, true}; };
    for (const operation& operation : version.operations) {
      if (const auto* read = std::get_if<scan>(&operation)) bind(read->relation, read->bindings);
      if (const auto* read = std::get_if<match>(&operation)) bind(read->relation, read->bindings);
      if (const auto* computed = std::get_if<compute>(&operation)) make(computed->result);
      if (const auto* packed = std::get_if<pack>(&operation)) make(packed->result);
      if (const auto* generated = std::get_if<generate>(&operation)) make(generated->result);
      if (const auto* folded = std::get_if<fold_end>(&operation)) make(folded->result);
      if (const auto* unpacked = std::get_if<unpack>(&operation)) {
        for (const field_binding& bound : unpacked->bindings) make(bound.slot);
      }
      if (const auto* head = std::get_if<insert>(&operation)) add_head(*head, held);
    }
  }

  void add_head(const insert& head, const std::map<slot_id, column_sources>& held) {
    for (std::uint32_t column = 0; column < head.values.size(); ++column) {
      column_sources& own = sources_[{head.relation, column}];
      const operand& value = head.values[column];
      if (value.is_constant) {
        own.largest_constant = std::max(own.largest_constant, value.literal);
        continue;
      }
      const column_sources& from = held.at(slot_id(value.value));
      own.places.insert(from.places.begin(), from.places.end());
      own.makes_values = own.makes_values || from.makes_values;
    }
  }

  /// Returns all columns that flow into the column. A relation of the stratum may have rows before the stratum begins.
  [[nodiscard]] std::optional<column_domain> find(column_place column) const {
    column_domain domain;
    const auto number = numbers_.find(column);
    if (number == numbers_.end()) return column_domain{{column}, 0};
    std::vector<bool> reached(places_.size());
    reached[number->second] = true;
    std::vector<std::uint32_t> open = {number->second};
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      domain.sources.push_back(places_[next]);
      const column_flow& flow = flows_[next];
      if (flow.sources == nullptr) continue;
      if (flow.sources->makes_values) return std::nullopt;
      domain.largest_constant = std::max(domain.largest_constant, flow.sources->largest_constant);
      for (const std::uint32_t source : flow.from) {
        if (reached[source]) continue;
        reached[source] = true;
        open.push_back(source);
      }
    }
    std::sort(domain.sources.begin(), domain.sources.end());
    return domain;
  }

  const program& plan_;
  std::map<column_place, column_sources> sources_;  // by column of the stratum's relations
  // Columns that the stratum's rules read or write, by number.
  std::map<column_place, std::uint32_t> numbers_;
  std::vector<column_place> places_;
  std::vector<column_flow> flows_;
};

}  // namespace

std::vector<relation_domain> find_domains(const program& plan, const stratum& considered) {
  std::vector<relation_domain> domains;
  // Subsumption finds removed tuples by their row numbers.
  if (!considered.subsumptions.empty()) return domains;
  if (considered.once.versions.empty() && considered.loop.empty()) return domains;
  const domain_search search(plan, considered);
  std::size_t listed = 0;
  for (const relation_id member : considered.relations) {
    auto found = search.find(member);
    if (!found) continue;
    for (const column_domain& column : found->columns) listed += column.sources.size();
    if (listed > calibration::listed_sources) break;
    domains.push_back(std::move(*found));
  }
  return domains;
}

void find_dense_domains(planning& shared) {
  for (stratum& one : shared.result.strata) one.domains = find_domains(shared.result, one);
}

}  // namespace gpulog::plan
