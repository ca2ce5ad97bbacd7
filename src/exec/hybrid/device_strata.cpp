#include "exec/hybrid/device_strata.hpp"

#include <algorithm>
#include <variant>

#include "exec/fixpoint/wide_registers.hpp"
#include "kernels/steps/host_steps.hpp"
#include "plan/reads.hpp"
#include "support/option_names.hpp"

namespace gpulog::exec {

namespace {

/// Describes the host's work for an operator; empty: none.
struct work_of_host {
  std::string operator()(const plan::compute& compute) const {
    if (compute.op == scalar_op::next_counter) return "counts with autoinc()";
    if (compute.op == scalar_op::iteration_number) return "counts iterations";
    if (compute.op == scalar_op::call_functor) return "calls a functor of a library";
    return kernels::needs_host(compute.op) ? "works on texts" : "";
  }
  std::string operator()(const plan::filter& filter) const {
    return kernels::needs_host(filter.op) ? "compares texts" : "";
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }
};

/// Operators with kernels only for `hash` storage.
struct work_of_hash_mode {
  std::string operator()(const plan::generate&) const { return "has a range"; }
  std::string operator()(const plan::pack&) const { return "makes records"; }
  std::string operator()(const plan::unpack&) const { return "reads records"; }
  std::string operator()(const plan::fold_begin&) const { return "has an aggregate"; }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }
};

/// Operators on 64-bit values need lookups, for which `hisa` storage has no kernels.
struct lookups_of_wide_values {
  std::string operator()(const plan::compute& compute) const {
    return kernels::needs_host(compute.op) || compute.op == scalar_op::copy ? "" : "computes with words of 64 bits";
  }
  std::string operator()(const plan::filter& filter) const {
    const bool by_code = filter.op == comparison_op::equal || filter.op == comparison_op::not_equal;
    return by_code || kernels::needs_host(filter.op) ? "" : "compares words of 64 bits";
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }
};
/// Sums of 64-bit floats depend on the order of additions, which a device does not keep.
struct sums_of_wide_floats {
  std::string operator()(const plan::fold_end& end) const {
    return end.op == fold_op::sum_float || end.op == fold_op::mean ? "adds floats of 64 bits" : "";
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }
};

template <class Work>
std::string find_work(const plan::rule_version& version) {
  for (const plan::operation& operation : version.operations) {
    if (std::string work = std::visit(Work{}, operation); !work.empty()) return work;
  }
  return {};
}

/// Devices support subsumption only as the best row per key.
std::string why_not(const plan::subsumption& one, const plan::program& program, const options& chosen) {
  const plan::relation& planned = program.relations[one.relation.value];
  constexpr std::size_t most_columns = 3;
  const bool by_the_set = planned.best && planned.best->bounds.empty() &&
                          planned.kinds[planned.best->column] != value_kind::floating &&
                          planned.kinds.size() <= most_columns && planned.size_limit == 0 &&
                          program.words == word_size::bits32 && chosen.storage != storage::storage_mode::hisa;
  return by_the_set ? "" : "a relation has a subsumptive rule:\n" + one.version.text;
}

std::string why_not(const plan::rule_version& version, const options& chosen, word_size words) {
  // The registers of a block are in shared memory, next to a few words of the kernel.
  constexpr std::uint64_t bytes_of_a_slot = 256 * sizeof(word);
  constexpr std::uint64_t other_bytes = 2048;
  std::uint64_t most_slots = 200;
  if (chosen.device_block_bytes != 0)
    most_slots = std::min(most_slots, (chosen.device_block_bytes - other_bytes) / bytes_of_a_slot);
  const std::uint64_t slots =
      std::uint64_t{version.slot_count} + (words == word_size::bits64 ? registers_for_wide_words(version) : 0);
  if (slots > most_slots) return "has more than " + std::to_string(most_slots) + " variables";
  const auto calls_functor = [](const plan::operation& operation) {
    const auto* const folded = std::get_if<plan::fold_end>(&operation);
    return folded != nullptr && folded->op == fold_op::functor;
  };
  if (std::any_of(version.operations.begin(), version.operations.end(), calls_functor)) {
    return "has an aggregate of a library's functor";
  }
  if (words == word_size::bits64) {
    std::string work = find_work<sums_of_wide_floats>(version);
    if (!work.empty()) return work;
  }
  if (chosen.storage != storage::storage_mode::hisa) return {};
  std::string work = find_work<work_of_hash_mode>(version);
  if (work.empty() && words == word_size::bits64) work = find_work<lookups_of_wide_values>(version);
  if (work.empty()) work = find_work<work_of_host>(version);
  return work.empty() ? work : work + ", which " + option_named("storage", "hisa") + " has not on a device";
}

}  // namespace

device_stratum find_device_stratum(const plan::program& program, std::size_t number, const options& chosen) {
  const plan::stratum& stratum = program.strata[number];
  device_stratum result;
  // Relations that are more than a set of tuples.
  for (const relation_id member : stratum.relations) {
    const plan::relation& planned = program.relations[member.value];
    if (!planned.choice_domains.empty()) result.why_not = "relation " + planned.name + " has a choice-domain";
  }
  const auto refuse_equivalence = [&](relation_id relation) {
    const plan::relation& planned = program.relations[relation.value];
    if (planned.is_equivalence && result.why_not.empty()) {
      result.why_not = "relation " + planned.name + " is an equivalence relation";
    }
  };
  for (const relation_id member : stratum.relations) refuse_equivalence(member);
  for_each_version(stratum, [&](const plan::rule_version& version) {
    for_each_read(version, [&](relation_id relation, index_id, bool) { refuse_equivalence(relation); });
  });
  for (const plan::subsumption& one : stratum.subsumptions) {
    if (result.why_not.empty()) result.why_not = why_not(one, program, chosen);
  }
  for_each_version(stratum, [&](const plan::rule_version& version) {
    const auto note = [&](std::string& reason, const std::string& what) {
      if (reason.empty() && !what.empty()) reason = "a rule " + what + ":\n" + version.text;
    };
    note(result.why_not, why_not(version, chosen, program.words));
    note(result.host_steps, find_work<work_of_host>(version));
  });
  return result;
}

std::vector<device_stratum> find_device_strata(const plan::program& program, const options& chosen) {
  std::vector<device_stratum> strata;
  for (std::size_t s = 0; s < program.strata.size(); ++s) strata.push_back(find_device_stratum(program, s, chosen));
  return strata;
}

std::string explain_device_strata(const plan::program& program) {
  const std::vector<device_stratum> strata = find_device_strata(program, {});
  std::string text;
  for (std::size_t s = 0; s < strata.size(); ++s) {
    const bool is_refused = !strata[s].why_not.empty();
    std::string reason = is_refused ? strata[s].why_not : strata[s].host_steps;
    if (reason.empty()) continue;
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    text += "  stratum " + std::to_string(s) + (is_refused ? ": all of it, as " : ": some steps, as ") + reason + "\n";
  }
  return text.empty() ? text : "by the host, also with a device\n" + text;
}

}  // namespace gpulog::exec
