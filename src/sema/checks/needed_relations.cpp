#include "sema/checks/needed_relations.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "sema/order_dependence.hpp"

namespace gpulog::sema {
namespace {

bool is_printed(const relation& one) {
  return one.has_directive(directive_kind::output) || one.has_directive(directive_kind::printsize) || one.is_query;
}

/// Returns, by column, whether the column of an input may have texts that nobody reads.
std::vector<bool> texts_of_input(const relation& one) {
  std::vector<bool> texts(one.arity(), false);
  const bool depends_on_rows = one.structure == representation::eqrel || !one.choice_domains.empty() ||
                               !one.subsumptions.empty() || !one.lattices.empty() || one.size_limit;
  if (depends_on_rows || is_printed(one) || !one.has_directive(directive_kind::input)) return texts;
  for (std::size_t c = 0; c < texts.size(); ++c) texts[c] = one.attributes[c].kind == value_kind::symbol;
  return texts;
}

/// Finds the columns that the rules of a program read.
class column_reader {
 public:
  explicit column_reader(std::vector<std::vector<bool>>& unread) : unread_(unread) {}

  void read(const rule& one, bool has_state) {
    uses_.assign(one.variables.size(), 0);
    for (const expression& argument : one.head.arguments) count(argument);
    count(one.body);
    const bool counts_matches = notices_order(one, has_state);
    for (const literal& part : one.body) {
      if (const auto* positive_or_not = std::get_if<atom>(&part)) {
        read(*positive_or_not, counts_matches);
      } else if (const auto* folded = std::get_if<aggregate>(&part)) {
        read_all(folded->body);
      }
    }
  }

 private:
  void count(const expression& tree) {
    if (tree.is_variable()) ++uses_[tree.variable];
    for (const expression& part : tree.arguments) count(part);
  }
  void count(const std::vector<literal>& body) {
    for (const literal& part : body) {
      if (const auto* one = std::get_if<atom>(&part)) {
        for (const expression& argument : one->arguments) count(argument);
      } else if (const auto* test = std::get_if<constraint>(&part)) {
        count(test->left);
        count(test->right);
      } else if (const auto* folded = std::get_if<aggregate>(&part)) {
        count(folded->result);
        count(folded->target);
        count(folded->body);
      } else if (const auto* made = std::get_if<generator>(&part)) {
        count(made->result);
        for (const expression& argument : made->arguments) count(argument);
      }
    }
  }
  void read(const atom& one, bool reads_all) {
    std::vector<bool>& unread = unread_[one.relation.value];
    for (std::size_t c = 0; c < unread.size(); ++c) {
      const expression& argument = one.arguments[c];
      const bool is_ignored = argument.is_unnamed() || (argument.is_variable() && uses_[argument.variable] == 1);
      if (reads_all || !is_ignored) unread[c] = false;
    }
  }
  /// An aggregate may count tuples that differ in an unnamed column only.
  void read_all(const std::vector<literal>& body) {
    for (const literal& part : body) {
      if (const auto* one = std::get_if<atom>(&part)) {
        read(*one, true);
      } else if (const auto* folded = std::get_if<aggregate>(&part)) {
        read_all(folded->body);
      }
    }
  }

  std::vector<std::vector<bool>>& unread_;
  std::vector<std::uint64_t> uses_;  // by variable
};

}  // namespace

std::vector<bool> needed_relations(const program& analysed) {
  std::vector<std::vector<relation_id>> read_for(analysed.relations.size());
  for (const dependency& edge : analysed.dependencies) read_for[edge.to.value].push_back(edge.from);
  std::vector<bool> needed(analysed.relations.size(), false);
  std::vector<relation_id> waiting;
  const auto need = [&](relation_id id) {
    if (needed[id.value]) return;
    needed[id.value] = true;
    waiting.push_back(id);
  };
  for (std::uint32_t number = 0; number < analysed.relations.size(); ++number) {
    if (is_printed(analysed.relations[number])) need(relation_id(number));
  }
  while (!waiting.empty()) {
    const relation_id next = waiting.back();
    waiting.pop_back();
    for (const relation_id read : read_for[next.value]) need(read);
  }
  return needed;
}

std::vector<bool> printed_relations(const program& analysed) {
  std::vector<bool> printed;
  for (const relation& one : analysed.relations) printed.push_back(is_printed(one));
  return printed;
}

std::vector<std::vector<bool>> unread_texts(const program& analysed, const std::vector<bool>& needed) {
  std::vector<std::vector<bool>> unread;
  for (const relation& one : analysed.relations) unread.push_back(texts_of_input(one));
  // Texts that are not stored would change the numbers of all others.
  if (reads_internal_numbers(analysed)) {
    for (std::vector<bool>& columns : unread) columns.assign(columns.size(), false);
    return unread;
  }
  column_reader reader(unread);
  const bool has_state = has_stateful_functors(analysed);
  for (const rule& one : analysed.rules) {
    if (needed[one.head.relation.value]) reader.read(one, has_state);
  }
  for (const rule& one : analysed.subsumptions) reader.read(one, has_state);
  return unread;
}

}  // namespace gpulog::sema
