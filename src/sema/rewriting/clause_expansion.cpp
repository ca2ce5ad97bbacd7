#include "sema/rewriting/clause_expansion.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace gpulog::sema {

namespace {

/// Limit for the number of literals in one clause's normal form, so that a clause cannot fill the memory.
constexpr std::size_t most_literals = 1'000'000;

struct too_large {};

using normal_form = std::vector<flat_conjunction>;

void check_size(std::size_t literals) {
  if (literals > most_literals) throw too_large();
}

std::size_t size_of(const normal_form& form) {
  std::size_t literals = form.size();
  for (const flat_conjunction& conjunction : form) literals += conjunction.size();
  return literals;
}

/// Returns the conjunction of both forms.
normal_form product(const normal_form& left, const normal_form& right) {
  check_size(size_of(left) * right.size() + size_of(right) * left.size());
  normal_form result;
  result.reserve(left.size() * right.size());
  for (const flat_conjunction& first : left) {
    for (const flat_conjunction& second : right) {
      flat_conjunction& both = result.emplace_back(first);
      both.insert(both.end(), second.begin(), second.end());
    }
  }
  return result;
}

/// Appends the alternatives of the second form.
void append(normal_form& left, normal_form right) {
  left.insert(left.end(), std::make_move_iterator(right.begin()), std::make_move_iterator(right.end()));
  check_size(size_of(left));
}

/// Saturating: bodies may multiply without end.
constexpr std::uint64_t most_counted = std::numeric_limits<std::uint64_t>::max();

std::uint64_t sum(std::uint64_t left, std::uint64_t right) {
  return left > most_counted - right ? most_counted : left + right;
}

std::uint64_t product(std::uint64_t left, std::uint64_t right) {
  return left != 0 && right > most_counted / left ? most_counted : left * right;
}

/// How many conjunctions the normal form has.
std::uint64_t count(const std::vector<syntax::conjunction>& alternatives, bool negated);
std::uint64_t count(const syntax::conjunction& conjunction, bool negated);

std::uint64_t count(const syntax::literal& literal, bool negated) {
  if (const auto* negation = literal.as<syntax::negation>()) return count(*negation->inner, !negated);
  if (const auto* group = literal.as<syntax::group>()) return count(group->alternatives, negated);
  return 1;
}

template <class Part>
std::uint64_t count_parts(const std::vector<Part>& parts, bool negated, bool multiply) {
  std::uint64_t result = multiply ? 1 : 0;
  for (const Part& part : parts) {
    const std::uint64_t of_part = count(part, negated);
    result = multiply ? product(result, of_part) : sum(result, of_part);
  }
  return result;
}

std::uint64_t count(const syntax::conjunction& conjunction, bool negated) {
  return count_parts(conjunction, negated, !negated);
}

std::uint64_t count(const std::vector<syntax::conjunction>& alternatives, bool negated) {
  return count_parts(alternatives, negated, negated);
}

normal_form expand(const std::vector<syntax::conjunction>& alternatives, bool negated);

normal_form expand(const syntax::literal& literal, bool negated) {
  if (const auto* negation = literal.as<syntax::negation>()) return expand(*negation->inner, !negated);
  if (const auto* group = literal.as<syntax::group>()) return expand(group->alternatives, negated);
  return {{flat_literal{&literal, negated}}};
}

normal_form expand(const syntax::conjunction& conjunction, bool negated) {
  if (negated) {
    normal_form result;
    for (const syntax::literal& literal : conjunction) append(result, expand(literal, true));
    return result;
  }
  normal_form result = {{}};
  for (const syntax::literal& literal : conjunction) {
    normal_form next = expand(literal, false);
    if (result.size() == 1 && next.size() == 1) {
      result.front().insert(result.front().end(), next.front().begin(), next.front().end());
    } else {
      result = product(result, next);
    }
  }
  return result;
}

normal_form expand(const std::vector<syntax::conjunction>& alternatives, bool negated) {
  if (!negated) {
    normal_form result;
    for (const syntax::conjunction& conjunction : alternatives) append(result, expand(conjunction, false));
    return result;
  }
  normal_form result = {{}};
  for (const syntax::conjunction& conjunction : alternatives) result = product(result, expand(conjunction, true));
  return result;
}

}  // namespace

std::optional<std::vector<flat_conjunction>> expand_body(const std::vector<syntax::conjunction>& alternatives,
                                                         const source_span& clause, diagnostics& diagnostics,
                                                         const std::vector<std::string>& inlined) {
  if (alternatives.empty()) return normal_form{{}};
  try {
    return expand(alternatives, false);
  } catch (const too_large&) {
    const std::uint64_t rules = count(alternatives, false);
    const std::string number = (rules == most_counted ? "at least " : "") + std::to_string(rules);
    if (inlined.empty()) {
      diagnostics.error(clause, "The disjunctions of this rule expand to too many rules: " + number);
      return std::nullopt;
    }
    std::string names = inlined.front();
    for (std::size_t at = 1; at < inlined.size(); ++at) {
      names += (at + 1 == inlined.size() ? " and " : ", ") + inlined[at];
    }
    diagnostics.error(clause, "Inlining " + names + " expands this rule to too many rules: " + number)
        .note("A relation that is declared without inline, or named by the pragma inline-exclude, is evaluated once");
    return std::nullopt;
  }
}

}  // namespace gpulog::sema
