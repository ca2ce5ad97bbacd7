#include "sema/aggregates/subsumption.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "sema/print.hpp"

namespace gpulog::sema {

namespace {

/// Prepends the literals to each alternative.
std::vector<syntax::conjunction> with_front(const syntax::conjunction& front,
                                            const std::vector<syntax::conjunction>& alternatives) {
  std::vector<syntax::conjunction> result;
  for (const syntax::conjunction& alternative : alternatives) {
    syntax::conjunction& added = result.emplace_back(front);
    added.insert(added.end(), alternative.begin(), alternative.end());
  }
  return result;
}

}  // namespace

syntax::clause clause_of(const syntax::subsumption& written) {
  syntax::atom dominated = written.dominated;
  syntax::conjunction equalities;
  std::set<std::string> taken;
  for (std::size_t column = 0; column < dominated.arguments.size(); ++column) {
    syntax::argument& argument = dominated.arguments[column];
    const auto* variable = argument.as<syntax::variable>();
    if (variable != nullptr && taken.insert(variable->name).second) continue;
    const syntax::place span = argument.span;
    // Programs cannot contain such a name.
    syntax::argument named{syntax::variable{"@dominated" + std::to_string(column)}, span};
    if (argument.as<syntax::unnamed_variable>() == nullptr) {
      equalities.push_back({syntax::constraint{syntax::constraint_op::equal, named, std::move(argument)}, span});
    }
    argument = std::move(named);
  }
  syntax::conjunction front;
  front.push_back({dominated, written.dominated.span});
  front.push_back({written.dominating, written.dominating.span});
  front.insert(front.end(), equalities.begin(), equalities.end());
  syntax::clause result;
  result.span = written.span;
  result.body = with_front(front, written.body);
  result.heads.push_back(std::move(dominated));
  return result;
}

syntax::clause body_of(const syntax::subsumption& written) {
  syntax::clause result;
  result.span = written.span;
  result.body = with_front({{written.dominated, written.dominated.span}, {written.dominating, written.dominating.span}},
                           written.body);
  return result;
}

namespace {

struct parts {
  std::vector<literal> pair, others;
};

/// Separates the two atoms of the pair, which may follow literals that compute their arguments.
parts parted(std::vector<literal> body) {
  parts result;
  for (literal& part : body) {
    const bool in_pair = result.pair.size() < 2 && std::holds_alternative<atom>(part);
    (in_pair ? result.pair : result.others).push_back(std::move(part));
  }
  return result;
}

}  // namespace

void finish_subsumption(const program& program, rule& lowered) {
  const rule shown = as_in_source(program, lowered);
  const parts written = parted(shown.body);
  lowered.text = to_text(program, shown, written.pair[0]) + " <= " + to_text(program, shown, written.pair[1]);
  for (std::size_t position = 0; position < written.others.size(); ++position) {
    lowered.text += (position == 0 ? " :- " : ", ") + to_text(program, shown, written.others[position]);
  }
  lowered.text += ".";
  auto [pair, others] = parted(std::move(lowered.body));
  lowered.body = std::move(pair);
  std::move(others.begin(), others.end(), std::back_inserter(lowered.body));
}

}  // namespace gpulog::sema
