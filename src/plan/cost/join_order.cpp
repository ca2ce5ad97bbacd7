#include "plan/cost/join_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "plan/cost/body_scheduler.hpp"
#include "plan/cost/calibration.hpp"

namespace gpulog::plan {

namespace {

/// Properties of an atom that rank before its fan-out: existence tests come first, then atoms joined by a column or an
/// interval.
struct atom_kind {
  bool expands = true;
  bool product = true;
  bool last = true;
  friend auto operator<=>(const atom_kind&, const atom_kind&) = default;
};

atom_kind kind_of(const body_scheduler& state, std::uint32_t atom) {
  const bool is_joined = state.is_joined(atom) || state.is_between_bounds(atom);
  return {!state.only_exists(atom), !is_joined, state.comes_last(atom)};
}

/// Sort key of the next atom.
struct preference {
  atom_kind kind;
  double fan_out = std::numeric_limits<double>::infinity();
  std::uint32_t atom = 0;
  friend auto operator<=>(const preference&, const preference&) = default;
};

preference preference_of(const body_scheduler& state, std::uint32_t atom) {
  return {kind_of(state, atom), state.fan_out(atom), atom};
}

/// The atoms that are not placed, in order of preference. The preference of an atom changes only if the state of a
/// variable of the atom changes, or of a variable that a condition compares with the atom's variables.
class waiting_atoms {
 public:
  explicit waiting_atoms(body_scheduler& state) : state_(&state), atoms_with_(state.rule().variables.size()) {
    const normalized_rule& rule = state.rule();
    std::vector<std::uint32_t> variables;
    for (std::uint32_t atom = 0; atom < rule.atoms.size(); ++atom) {
      variables.clear();
      append_variables(rule.atoms[atom], variables);
      for (const std::uint32_t variable : variables) atoms_with_[variable].push_back(atom);
    }
    for (const condition& test : rule.conditions) {
      variables.clear();
      append_variables(test.left, variables);
      append_variables(test.right, variables);
      for (const std::uint32_t variable : variables)
        compared_with_[variable].insert(variables.begin(), variables.end());
    }
    worth_.resize(rule.atoms.size());
    look_at_all();
  }

  [[nodiscard]] std::optional<std::uint32_t> next(std::optional<std::uint32_t> except) const {
    for (const preference& one : order_) {
      if (one.atom != except) return one.atom;
    }
    return std::nullopt;
  }

  void place(std::uint32_t atom) {
    const bool is_begun = state_->is_begun();
    state_->place_atom(atom);
    state_->place_ready();
    // Intervals reduce the fan-out only after the first atom.
    if (!is_begun && !compared_with_.empty()) return look_at_all();
    look_at(atom);
    for (const std::uint32_t variable : state_->take_changed()) {
      look_at_atoms_with(variable);
      const auto compared = compared_with_.find(variable);
      if (compared == compared_with_.end()) continue;
      for (const std::uint32_t other : compared->second) look_at_atoms_with(other);
    }
  }

 private:
  void look_at_all() {
    static_cast<void>(state_->take_changed());
    for (std::uint32_t atom = 0; atom < worth_.size(); ++atom) look_at(atom);
  }
  void look_at_atoms_with(std::uint32_t variable) {
    for (const std::uint32_t atom : atoms_with_[variable]) look_at(atom);
  }
  void look_at(std::uint32_t atom) {
    if (worth_[atom]) order_.erase(*worth_[atom]);
    worth_[atom].reset();
    if (!state_->is_placed(atom)) order_.insert(worth_[atom].emplace(preference_of(*state_, atom)));
  }

  body_scheduler* state_;
  std::vector<std::vector<std::uint32_t>> atoms_with_;              // by variable
  std::map<std::uint32_t, std::set<std::uint32_t>> compared_with_;  // by variable
  std::vector<std::optional<preference>> worth_;                    // by atom; empty: placed
  std::set<preference> order_;
};

}  // namespace

void body_scheduler::place_all(std::optional<std::uint32_t> late) {
  place_ready();
  waiting_atoms waiting(*this);
  while (true) {
    if (late && is_joined(*late)) late.reset();
    std::optional<std::uint32_t> next = waiting.next(late);
    if (!next) next = std::exchange(late, std::nullopt);
    if (!next) return;
    waiting.place(*next);
  }
}

namespace {

body_scheduler started(body_scheduler state, std::optional<std::uint32_t> start) {
  if (start) state.place_atom(*start);
  state.place_ready();
  return state;
}

schedule complete(body_scheduler state, std::optional<std::uint32_t> late = {}) {
  state.place_all(late);
  return state.finish();
}

/// Returns the candidates for the next atom: a single existence test if possible, unjoined atoms only as a last resort,
/// otherwise every joined atom.
std::vector<std::uint32_t> next_atoms(const body_scheduler& state, std::size_t atom_count) {
  std::optional<atom_kind> best;
  std::vector<std::uint32_t> atoms;
  for (std::uint32_t atom = 0; atom < atom_count; ++atom) {
    if (state.is_placed(atom)) continue;
    const atom_kind candidate = kind_of(state, atom);
    if (!best || candidate < *best) {
      best = candidate;
      atoms.clear();
    }
    if (candidate == *best) atoms.push_back(atom);
  }
  if (best && !best->expands) atoms.resize(1);
  return atoms;
}

bool has_all(const body_scheduler& state, std::size_t atom_count) {
  std::uint32_t atom = 0;
  while (atom < atom_count && state.is_placed(atom)) ++atom;
  return atom == atom_count;
}

/// Searches the cheapest order. The smallest next fan-out may lead to a larger later fan-out, so the search follows
/// several orders and keeps the cheapest order for each set of atoms. The result costs at most as much as the order by
/// smallest fan-out, which the search uses for the rest of long bodies after `search_effort`. `reason` of the result
/// names the criterion that chose the order.
schedule search_order(const body_scheduler& beginning, std::size_t atom_count, double first_rows) {
  schedule best = complete(beginning);
  best.reason = "fan-out";
  if (best.cost <= calibration::cheap_order * first_rows) return best;
  std::vector<body_scheduler> followed{beginning};
  // orders extended by one atom; entries past the used count only keep their memory
  std::vector<body_scheduler> longer;
  std::size_t effort = 0;
  while (!has_all(followed.front(), atom_count)) {
    if (effort > calibration::search_effort) {
      schedule found = complete(std::move(followed.front()));
      found.reason = "cost";
      return found.cost < best.cost ? std::move(found) : std::move(best);
    }
    std::vector<std::pair<double, std::size_t>> by_cost;
    for (const body_scheduler& state : followed) {
      const std::vector<std::uint32_t> longer_by = next_atoms(state, atom_count);
      effort += atom_count * (1 + longer_by.size());
      for (const std::uint32_t atom : longer_by) {
        const std::size_t place = by_cost.size();
        if (place < longer.size()) {
          longer[place] = state;
        } else {
          longer.push_back(state);
        }
        longer[place].place_atom(atom);
        longer[place].place_ready();
        by_cost.emplace_back(longer[place].cost(), place);
      }
    }
    std::sort(by_cost.begin(), by_cost.end());
    std::vector<std::size_t> chosen;
    for (const auto& [cost, place] : by_cost) {
      if (chosen.size() == calibration::orders_followed || cost >= best.cost) break;
      const bool is_new = std::none_of(chosen.begin(), chosen.end(), [&, tried = place](std::size_t cheaper) {
        return longer[cheaper].placed_atoms() == longer[tried].placed_atoms();
      });
      if (is_new) chosen.push_back(place);
    }
    if (chosen.empty()) return best;
    while (followed.size() > chosen.size()) followed.pop_back();
    for (std::size_t number = 0; number < chosen.size(); ++number) {
      if (number == followed.size()) followed.push_back(followed.front());
      std::swap(followed[number], longer[chosen[number]]);
    }
  }
  schedule found = followed.front().finish();
  found.reason = "cost";
  return found.cost < best.cost ? std::move(found) : std::move(best);
}

}  // namespace

std::vector<std::uint32_t> atoms_in_order(const schedule& order) {
  std::vector<std::uint32_t> atoms;
  for (const step& one : order.steps) {
    if (std::holds_alternative<read_changed_elements>(one.action)) return {};
    if (const auto* read = std::get_if<read_atom>(&one.action)) atoms.push_back(read->atom);
  }
  return atoms;
}

schedule order_body(const normalized_rule& rule, const version_parts& parts, const cost_model& costs,
                    const std::vector<std::uint32_t>* forced) {
  const body_scheduler beginning(rule, parts, costs);
  const std::size_t atom_count = rule.atoms.size();
  if (forced != nullptr) {
    body_scheduler state = beginning;
    for (const std::uint32_t atom : *forced) {
      state.place_atom(atom);
      state.place_ready();
    }
    state.place_ready();
    schedule result = state.finish();
    result.reason = "as .plan says";
    return result;
  }

  // A delta atom with only constant columns has at most one row, so a scan of the delta first is also best.
  const auto is_generator = [&](std::uint32_t atom) {
    const body_atom& candidate = rule.atoms[atom];
    const bool all_constant =
        !candidate.arguments.empty() && std::all_of(candidate.arguments.begin(), candidate.arguments.end(),
                                                    [](const term& argument) { return argument.is_constant(); });
    return !beginning.only_exists(atom) || (all_constant && parts.atoms[atom] == row_part::delta);
  };
  if (parts.delta_atom && rule.atoms[*parts.delta_atom].is_equivalence && is_generator(*parts.delta_atom)) {
    std::optional<schedule> best;
    for (const std::uint32_t column : beginning.joined_columns(*parts.delta_atom)) {
      body_scheduler state = beginning;
      state.place_changed_elements(*parts.delta_atom, column);
      schedule candidate = complete(std::move(state));
      if (!best || candidate.cost < best->cost) best = std::move(candidate);
    }
    if (best) {
      best->reason = fmt::format("elements of delta first, then by fan-out; cost ~{:.2g}", best->cost);
      return std::move(*best);
    }
  }
  if (parts.delta_atom && is_generator(*parts.delta_atom)) {
    const double delta_rows = costs.rows(rule.atoms[*parts.delta_atom].relation, row_part::delta);
    schedule result = search_order(started(beginning, parts.delta_atom), atom_count, delta_rows);
    result.reason =
        atom_count > 1 ? fmt::format("delta first, then by {}; cost ~{:.2g}", result.reason, result.cost) : "only atom";
    // If only a computed value joins the delta, each delta row would read all rows of the remaining atoms. The
    // remaining atoms then come first and the version searches the delta: for every size of the delta, the version
    // reads at most the same number of rows.
    std::size_t tried = 0;
    for (std::uint32_t atom = 0; result.products > 0 && atom < atom_count; ++atom) {
      if (atom == *parts.delta_atom || !is_generator(atom)) continue;
      if (++tried > calibration::starts_tried) break;
      schedule candidate = complete(started(beginning, atom), parts.delta_atom);
      if (candidate.products >= result.products) continue;
      result = std::move(candidate);
      result.reason = "delta searched by computed values";
    }
    return result;
  }

  std::vector<std::pair<double, std::uint32_t>> starts;
  for (std::uint32_t atom = 0; atom < atom_count; ++atom) {
    if (is_generator(atom)) starts.emplace_back(beginning.fan_out(atom), atom);
  }
  std::sort(starts.begin(), starts.end());
  if (starts.size() > calibration::starts_tried) starts.resize(calibration::starts_tried);
  if (starts.empty()) {
    schedule result = complete(beginning);
    result.reason = atom_count == 0 ? "no atoms" : "existence only";
    return result;
  }
  struct beginning_of_order {
    double cost;
    std::uint32_t atom;
    double rows;
  };
  std::vector<beginning_of_order> begun;
  for (const auto& [rows, start] : starts) begun.push_back({complete(started(beginning, start)).cost, start, rows});
  // Equal costs keep the written order.
  std::sort(begun.begin(), begun.end(), [](const beginning_of_order& left, const beginning_of_order& right) {
    return std::pair(left.cost, left.atom) < std::pair(right.cost, right.atom);
  });
  if (begun.size() > calibration::starts_followed) begun.resize(calibration::starts_followed);
  std::optional<schedule> best;
  for (const beginning_of_order& one : begun) {
    schedule candidate = search_order(started(beginning, one.atom), atom_count, std::max(1.0, one.rows));
    if (!best || candidate.cost < best->cost) best = std::move(candidate);
  }
  best->reason = starts.size() == 1 ? "only atom to start from"
                                    : fmt::format("cheapest of {} starts, then by {}; cost ~{:.2g}", starts.size(),
                                                  best->reason, best->cost);
  return std::move(*best);
}

}  // namespace gpulog::plan
