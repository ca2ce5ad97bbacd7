#include "exec/device_strata.hpp"

#include <algorithm>
#include <variant>

#include "exec/reads.hpp"

namespace gpulog::exec {

namespace {

bool is_on_text(scalar_op op) { return op >= scalar_op::min_symbol && op != scalar_op::next_counter; }
bool is_on_text(comparison_op op) { return op >= comparison_op::less_symbol; }

/// What a kernel lacks for an operator; empty: nothing.
struct missing_kernel {
  std::string operator()(const plan::compute& compute) const {
    if (compute.op == scalar_op::next_counter) return "counts with autoinc()";
    if (compute.op == scalar_op::call_functor) return "calls a functor of a library";
    return is_on_text(compute.op) ? "works on texts" : "";
  }
  std::string operator()(const plan::filter& filter) const { return is_on_text(filter.op) ? "compares texts" : ""; }
  std::string operator()(const plan::pack&) const { return "makes records"; }
  std::string operator()(const plan::unpack&) const { return "reads records"; }
  std::string operator()(const plan::generate&) const { return "has a range"; }
  std::string operator()(const plan::fold_begin&) const { return "has an aggregate"; }
  std::string operator()(const plan::fold_end&) const { return "has an aggregate"; }
  std::string operator()(const plan::scan&) const { return {}; }
  std::string operator()(const plan::match&) const { return {}; }
  std::string operator()(const plan::exists&) const { return {}; }
  std::string operator()(const plan::insert&) const { return {}; }
};

std::string why_not(const plan::rule_version& version) {
  constexpr std::uint32_t most_slots = 200;  // registers of a block stand in shared memory
  if (version.slot_count > most_slots) return "has more than " + std::to_string(most_slots) + " variables";
  for (const plan::operation& operation : version.operations) {
    if (std::string reason = std::visit(missing_kernel{}, operation); !reason.empty()) return reason;
  }
  return {};
}

}  // namespace

std::vector<std::string> why_not_on_device(const plan::program& program) {
  std::vector<std::string> reasons(program.strata.size());
  for (std::size_t s = 0; s < program.strata.size(); ++s) {
    std::string& reason = reasons[s];
    for (const relation_id member : program.strata[s].relations) {
      const plan::relation& planned = program.relations[member.value];
      if (!planned.choice_domains.empty()) reason = "relation " + planned.name + " has a choice-domain";
    }
    const auto refuse_equivalence = [&](relation_id relation) {
      const plan::relation& planned = program.relations[relation.value];
      if (planned.is_equivalence && reason.empty()) reason = "relation " + planned.name + " is an equivalence relation";
    };
    for (const relation_id member : program.strata[s].relations) refuse_equivalence(member);
    for_each_version(program.strata[s], [&](const plan::rule_version& version) {
      for_each_read(version, [&](relation_id relation, index_id, bool) { refuse_equivalence(relation); });
    });
    for_each_version(program.strata[s], [&](const plan::rule_version& version) {
      if (!reason.empty()) return;
      const std::string lacking = why_not(version);
      if (!lacking.empty()) reason = "a rule " + lacking + ":\n" + version.text;
    });
  }
  return reasons;
}

std::string explain_device_strata(const plan::program& program) {
  const std::vector<std::string> reasons = why_not_on_device(program);
  if (std::all_of(reasons.begin(), reasons.end(), [](const std::string& reason) { return reason.empty(); })) return {};
  std::string text = "on the host also with a device\n";
  for (std::size_t s = 0; s < reasons.size(); ++s) {
    if (reasons[s].empty()) continue;
    std::string line = reasons[s];
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += "  stratum " + std::to_string(s) + ": " + line + "\n";
  }
  return text;
}

}  // namespace gpulog::exec
