#include "sema/analysis.hpp"

#include <algorithm>
#include <deque>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "sema/aggregates/aggregate_scopes.hpp"
#include "sema/aggregates/lattices.hpp"
#include "sema/aggregates/subsumption.hpp"
#include "sema/checks/clause_checks.hpp"
#include "sema/checks/extensions.hpp"
#include "sema/checks/known_names.hpp"
#include "sema/checks/lint.hpp"
#include "sema/checks/plan_checks.hpp"
#include "sema/components/components.hpp"
#include "sema/components/inline_checks.hpp"
#include "sema/components/inlining.hpp"
#include "sema/lowering.hpp"
#include "sema/print.hpp"
#include "sema/records/anonymous_records.hpp"
#include "sema/rewriting/debug_delta.hpp"
#include "sema/rewriting/queries.hpp"
#include "sema/rewriting/syntax_walk.hpp"
#include "sema/stratification.hpp"
#include "sema/types/clause_types.hpp"
#include "sema/types/declarations.hpp"

namespace gpulog::sema {

namespace {

/// Returns whether the terms are different constructors of one type, as far as the source shows the constructors.
bool always_differ(const syntax::argument& left, const syntax::argument& right) {
  if (const auto* cast = left.as<syntax::type_cast>()) return always_differ(*cast->value, right);
  if (const auto* cast = right.as<syntax::type_cast>()) return always_differ(left, *cast->value);
  const auto any_field = [](const std::vector<syntax::argument>& some, const std::vector<syntax::argument>& others) {
    for (std::size_t field = 0; field < std::min(some.size(), others.size()); ++field) {
      if (always_differ(some[field], others[field])) return true;
    }
    return false;
  };
  const auto* branch = left.as<syntax::branch_constructor>();
  const auto* other_branch = right.as<syntax::branch_constructor>();
  if (branch != nullptr && other_branch != nullptr) {
    return branch->branch.text != other_branch->branch.text || any_field(branch->fields, other_branch->fields);
  }
  const auto* record = left.as<syntax::record_constructor>();
  const auto* other_record = right.as<syntax::record_constructor>();
  if (record != nullptr && other_record != nullptr) return any_field(record->fields, other_record->fields);
  return (record != nullptr && right.as<syntax::nil_constant>() != nullptr) ||
         (other_record != nullptr && left.as<syntax::nil_constant>() != nullptr);
}

class analyser {
 public:
  /// Analyses items of a program without components.
  analyser(const std::vector<syntax::item>& items, diagnostics& diagnostics, const analysis_options& options)
      : items_(items),
        diagnostics_(diagnostics),
        options_(options),
        declared_(items_, program_, diagnostics, options.pragmas),
        inliner_(items_, declared_, diagnostics),
        symbols_(program_, options.number_symbol),
        has_clause_(program_.relations.size(), false),
        has_subsumption_(program_.relations.size(), false) {
    program_.words = options.words;
    declare_queries();
  }

  std::optional<program> run() {
    const std::size_t errors = diagnostics_.error_count();
    check_inlining(items_, declared_, diagnostics_);
    inlining_refused_ = diagnostics_.error_count() != errors;
    for (const syntax::item& item : items_) {
      const auto* clause = item.as<syntax::clause>();
      if (const auto* subsumption = item.as<syntax::subsumption>()) {
        clause = &subsumption_clauses_.emplace(subsumption, clause_of(*subsumption)).first->second;
      }
      if (clause != nullptr) expand_inlined(*clause);
    }
    for (const syntax::clause& query : queries_) expand_inlined(query);
    for (const syntax::item& item : items_) {
      if (const auto* clause = item.as<syntax::clause>()) {
        analyse_clause(*clause);
        previous_ = clause;
      }
      if (const auto* subsumption = item.as<syntax::subsumption>()) analyse_subsumption(*subsumption);
    }
    for (const syntax::clause& query : queries_) analyse_clause(query);
    if (options_.warnings) warn_of_unknown_names(items_, options_.pragmas, diagnostics_);
    if (diagnostics_.wants(warning_kind::portable)) warn_of_extensions(items_, declared_, diagnostics_);
    warn_of_empty_relations();
    warn_of_incomplete_lattices();
    warn_of_provenance();
    if (diagnostics_.has_errors()) return std::nullopt;
    stratify(program_, debug_delta_dependencies(items_, declared_), diagnostics_);
    check_plans(program_, {clause_of_rule_, written_subsumption_}, diagnostics_);
    reject_recursive_counters();
    if (diagnostics_.has_errors()) return std::nullopt;
    warn_of_missing_output();
    if (options_.warnings && options_.lint)
      warn_of_suspicious_items(items_, program_, options_.filled_relations, suppressed_relations(), diagnostics_);
    if (options_.only_queries) leave_out_outputs(program_);
    return std::move(program_);
  }

 private:
  void declare_queries() {
    for (const syntax::query& asked : options_.queries) {
      const syntax::clause& query = queries_.emplace_back(clause_of(asked, queries_.size() + 1));
      declared_.declare_query(query.heads.front(), text_of(asked), options_.query_parameters);
    }
    has_clause_.resize(program_.relations.size(), true);
    has_subsumption_.resize(program_.relations.size(), false);
  }

  void expand_inlined(const syntax::clause& clause) {
    if (auto expanded = inliner_.expand(clause)) inlined_.emplace(&clause, std::move(*expanded));
  }

  [[nodiscard]] bool is_evaluated(const syntax::atom& head) const {
    // If inlining was refused, errors in the definition would only be consequences.
    return inliner_.is_evaluated(head.name.text) &&
           !(inlining_refused_ && declared_.is_inline(*declared_.find_relation(head.name.text)));
  }

  void analyse_clause(const syntax::clause& written) {
    for (const syntax::atom& head : written.heads) {
      if (const auto id = declared_.find_relation(head.name.text)) has_clause_[id->value] = true;
    }
    if (written.body.empty() && add_plain_facts(written)) return;
    if (!check_form(written, declared_, diagnostics_, previous_)) return;
    if (options_.warnings) warn_of_singletons(written, diagnostics_);
    const auto inlined = inlined_.find(&written);
    const bool never_holds = inlined != inlined_.end() && has_no_alternative(inlined->second);
    if (inlined != inlined_.end() && !never_holds && !check_inlined(inlined->second)) return;
    const bool all_evaluated = std::all_of(written.heads.begin(), written.heads.end(),
                                           [&](const syntax::atom& head) { return is_evaluated(head); });
    // The types of clauses that inlining removes or replaces must be correct, too.
    if (inlined != inlined_.end() || !all_evaluated) {
      const auto complete = normalized(written);
      if (!complete || !is_well_typed(*complete)) return;
    }
    if (never_holds) return;
    const auto normal = inlined == inlined_.end() ? normalized(written) : normalized(inlined->second, &written);
    if (!normal) return;
    const type_precision precision = precision_after(inlined != inlined_.end());
    for (const syntax::atom& head : normal->clause.heads) {
      if (!is_evaluated(head)) continue;
      for (const flat_conjunction& body : normal->bodies) {
        if (inlined != inlined_.end() && contradicts_itself(body)) continue;
        add_rule(normal->clause, head, body, precision);
      }
    }
  }

  /// Returns the precision for type checks after inlining. The clauses of the source were checked with full precision:
  /// a value of an inline relation has its declared type, which may differ from the types in the definition.
  [[nodiscard]] static type_precision precision_after(bool inlining) {
    return inlining ? type_precision::kinds : type_precision::declared;
  }

  /// Returns whether inlining produced an equality of constructors that never construct the same value.
  [[nodiscard]] static bool contradicts_itself(const flat_conjunction& body) {
    return std::any_of(body.begin(), body.end(), [](const flat_literal& flat) {
      const auto* constraint = flat.literal->as<syntax::constraint>();
      if (constraint == nullptr || flat.negated || constraint->op != syntax::constraint_op::equal) return false;
      return always_differ(constraint->left, constraint->right);
    });
  }

  /// Returns whether no alternative of the body is left because no definition matches an atom.
  [[nodiscard]] static bool has_no_alternative(const syntax::clause& inlined) {
    diagnostics unseen;
    const auto bodies = expand_body(inlined.body, inlined.span, unseen);
    return bodies && bodies->empty();
  }

  /// Checks an inlined clause. Errors caused by an inlined definition are reported for the definition instead.
  bool check_inlined(const syntax::clause& inlined) {
    diagnostics unseen;
    if (check_form(inlined, declared_, unseen)) return true;
    if (!diagnostics_.has_errors()) static_cast<void>(check_form(inlined, declared_, diagnostics_));
    return false;
  }

  struct normal_clause {
    const syntax::clause& clause;  ///< must outlive the analysis
    std::vector<flat_conjunction> bodies;
  };

  /// Returns the clause with separated scopes of aggregates and without records that have no type.
  /// @return nothing after a reported error, for example if the clause is too large
  /// @param written what the clause was before inlining; nullptr: it is as written
  std::optional<normal_clause> normalized(const syntax::clause& clause, const syntax::clause* written = nullptr) {
    const std::size_t errors = diagnostics_.error_count();
    auto separated = separate_scopes(clause, diagnostics_);
    if (diagnostics_.error_count() != errors) return std::nullopt;
    const syntax::clause& scoped = separated ? normalized_.emplace_back(std::move(*separated)) : clause;
    auto resolved = resolve_anonymous_records(scoped, declared_, diagnostics_);
    if (diagnostics_.error_count() != errors) return std::nullopt;
    const syntax::clause& normal = resolved ? normalized_.emplace_back(std::move(*resolved)) : scoped;
    auto bodies = expand_body(normal.body, normal.span, diagnostics_, inline_relations_in(written));
    if (!bodies) return std::nullopt;
    return normal_clause{normal, std::move(*bodies)};
  }

  /// The names of the inline relations that the body reads, once each.
  [[nodiscard]] std::vector<std::string> inline_relations_in(const syntax::clause* clause) const {
    std::vector<std::string> names;
    if (clause == nullptr) return names;
    for_each_atom(clause->body, [&](const syntax::atom& atom) {
      const std::string& name = atom.name.text;
      const auto relation = declared_.find_relation(name);
      const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
      if (relation && declared_.is_inline(*relation) && is_new) names.push_back(name);
    });
    return names;
  }

  bool is_well_typed(const normal_clause& normal) {
    bool good = true;
    for (const syntax::atom& head : normal.clause.heads) {
      for (const flat_conjunction& body : normal.bodies) {
        const flat_clause flat = flatten(normal.clause, head, body, declared_, diagnostics_);
        good &= clause_types(declared_, flat).check(diagnostics_);
      }
    }
    return good;
  }

  /// Adds the heads as facts if all heads are plain facts.
  /// @return whether the facts were added
  bool add_plain_facts(const syntax::clause& clause) {
    std::vector<fact> facts;
    for (const syntax::atom& head : clause.heads) {
      const auto id = declared_.find_relation(head.name.text);
      if (!id || !is_evaluated(head)) return false;
      auto lowered = lower_plain_fact(head, *id, program_[*id].attributes, symbols_, program_.words);
      if (!lowered) return false;
      facts.push_back(std::move(*lowered));
    }
    program_.facts.insert(program_.facts.end(), std::make_move_iterator(facts.begin()),
                          std::make_move_iterator(facts.end()));
    return true;
  }

  std::optional<rule> make_rule(const syntax::clause& clause, const syntax::atom& head, const flat_conjunction& body,
                                type_precision precision) {
    const flat_clause flat = flatten(clause, head, body, declared_, diagnostics_);
    const clause_types types(declared_, flat, precision);
    relation& derived = program_.relations[flat.head_relation.value];
    // The type of a variable in a query is known only if a literal binds the variable.
    if (derived.is_query && !check_groundedness(flat, declared_, diagnostics_)) return std::nullopt;
    const bool well_typed = types.check(diagnostics_);
    const bool grounded = derived.is_query || check_groundedness(flat, declared_, diagnostics_);
    if (!well_typed || !grounded) return std::nullopt;
    if (derived.is_query && !take_types(derived, head, types, diagnostics_)) return std::nullopt;
    return lower(flat, types, symbols_);
  }

  void add_rule(const syntax::clause& clause, const syntax::atom& head, const flat_conjunction& body,
                type_precision precision) {
    auto rule = make_rule(clause, head, body, precision);
    if (!rule) return;
    if (rule->body.empty() && std::all_of(rule->head.arguments.begin(), rule->head.arguments.end(),
                                          [](const expression& argument) { return argument.is_constant(); })) {
      fact constant_fact{rule->head.relation, {}, head.span};
      for (const expression& argument : rule->head.arguments) constant_fact.values.push_back(argument.constant);
      program_.facts.push_back(std::move(constant_fact));
      return;
    }
    rule->id = rule_id(static_cast<std::uint32_t>(program_.rules.size()));
    rule->text = source_text(program_, *rule);
    program_.rules.push_back(std::move(*rule));
    clause_of_rule_.push_back(&clause);
  }

  void analyse_subsumption(const syntax::subsumption& written) {
    const auto id = declared_.find_relation(written.dominated.name.text);
    if (id) has_clause_[id->value] = has_subsumption_[id->value] = true;
    const syntax::clause body = body_of(written);
    if (!check_form(body, declared_, diagnostics_)) return;
    if (!may_subsume(written, *id)) return;
    if (options_.warnings) {
      syntax::clause counted = body;
      counted.heads.push_back(written.dominated);
      warn_of_singletons(counted, diagnostics_);
    }
    const syntax::clause& whole = subsumption_clauses_.at(&written);
    const auto inlined = inlined_.find(&whole);
    if (inlined != inlined_.end()) {
      const auto complete = normalized(whole);
      if (!complete || !is_well_typed(*complete)) return;
    }
    const auto normal = inlined == inlined_.end() ? normalized(whole) : normalized(inlined->second, &whole);
    if (!normal) return;
    for (const flat_conjunction& conjunction : normal->bodies) {
      auto rule = make_rule(normal->clause, normal->clause.heads.front(), conjunction,
                            precision_after(inlined != inlined_.end()));
      if (!rule) continue;
      finish_subsumption(program_, *rule);
      program_.relations[id->value].subsumptions.push_back(static_cast<std::uint32_t>(program_.subsumptions.size()));
      program_.subsumptions.push_back(std::move(*rule));
      written_subsumption_.push_back(&written);
    }
  }

  /// Returns whether the analysis generated the subsumption for a lattice attribute: `@` cannot occur in a name of the
  /// program.
  static bool is_made(const syntax::subsumption& written) {
    return std::any_of(written.dominated.arguments.begin(), written.dominated.arguments.end(),
                       [](const auto& argument) {
                         const auto* variable = argument.template as<syntax::variable>();
                         return variable != nullptr && variable->name.starts_with('@');
                       });
  }

  bool may_subsume(const syntax::subsumption& written, relation_id id) {
    const relation& relation = program_[id];
    const std::size_t errors = diagnostics_.error_count();
    if (written.dominating.name.text != written.dominated.name.text) {
      diagnostics_.error(written.dominating.span, "The heads of a subsumptive rule are of different relations, " +
                                                      written.dominated.name.text + " and " +
                                                      written.dominating.name.text);
    }
    if (relation.structure != representation::unspecified && relation.structure != representation::btree_delete) {
      diagnostics_.error(relation.span,
                         "Relation " + relation.name + " has subsumptive rules and must be btree_delete");
    }
    if (!relation.lattices.empty() && !is_made(written)) {
      diagnostics_.error(written.span,
                         "Relation " + relation.name + " has a lattice attribute and cannot have subsumptive rules");
    }
    if (relation.is_inline && !is_made(written)) {
      diagnostics_.error(written.span, "Relation " + relation.name + " has subsumptive rules and cannot be inlined");
    }
    if (!relation.choice_domains.empty()) {
      diagnostics_.error(written.span, "Relation " + relation.name +
                                           " has a choice-domain and cannot have subsumptive rules: which tuple of a "
                                           "key comes first would decide which ones are left");
    }
    if (relation.arity() == 0) {
      diagnostics_.error(written.span, "Relation " + relation.name + " has one tuple at most and nothing to subsume");
    }
    return diagnostics_.error_count() == errors;
  }

  /// Returns the names in .pragma "suppress-warnings": relations that may be empty, or "*".
  [[nodiscard]] std::unordered_set<std::string> suppressed_relations() const {
    std::unordered_set<std::string> names;
    const auto pragma = program_.pragmas.find("suppress-warnings");
    if (pragma == program_.pragmas.end()) return names;
    std::istringstream list(pragma->second);
    for (std::string name; std::getline(list, name, ',');) names.insert(std::move(name));
    return names;
  }

  void warn_of_empty_relations() {
    if (!options_.warnings) return;
    const std::unordered_set<std::string> suppressed = suppressed_relations();
    for (std::size_t number = 0; number < program_.relations.size(); ++number) {
      const relation& relation = program_.relations[number];
      if (relation.structure == representation::btree_delete && !has_subsumption_[number]) {
        diagnostics_.warning(relation.span, "No subsumptive rule for relation " + relation.name,
                             warning_kind::no_subsumptive_rule);
      }
      if (has_clause_[number] || relation.has_directive(directive_kind::input)) continue;
      if (suppressed.contains("*") || suppressed.contains(relation.name)) continue;
      if (options_.filled_relations.contains(relation.name)) continue;
      diagnostics_.warning(relation.span, "No rules/facts defined for relation " + relation.name,
                           warning_kind::no_rules_nor_facts);
    }
  }

  void warn_of_incomplete_lattices() {
    if (!options_.warnings) return;
    std::unordered_set<std::string> seen;  // instances of a component may repeat a lattice
    for (const syntax::item& item : items_) {
      const auto* lattice = item.as<syntax::lattice_declaration>();
      if (lattice == nullptr || !seen.insert(lattice->name.text).second) continue;
      for (const char* const wanted : {"Bottom", "Glb", "Top"}) {
        const bool is_there = std::any_of(lattice->operations.begin(), lattice->operations.end(),
                                          [wanted](const auto& operation) { return operation.name.text == wanted; });
        if (is_there) continue;
        diagnostics_.warning(lattice->span, "Lattice " + lattice->name.text + "<> does not define " + wanted);
      }
    }
  }

  void warn_of_missing_output() {
    if (!options_.warnings || !options_.expects_output) return;
    const bool is_written = std::any_of(program_.relations.begin(), program_.relations.end(), [](const auto& relation) {
      return relation.has_directive(directive_kind::output) || relation.has_directive(directive_kind::printsize);
    });
    if (is_written) return;
    diagnostics_.warning({}, "Nothing is written: the program has no .output and no .printsize",
                         warning_kind::no_output);
  }

  void warn_of_provenance() {
    const auto wanted = program_.pragmas.find("provenance");
    if (!options_.warnings || wanted == program_.pragmas.end() || wanted->second == "none") return;
    source_span where;  // empty for a pragma from the command line
    for (const syntax::item& item : items_) {
      const auto* pragma = item.as<syntax::pragma>();
      if (pragma != nullptr && pragma->name == wanted->first && pragma->value == wanted->second) where = pragma->span;
    }
    diagnostics_.warning(where, "Pragma provenance has no effect; use the option -t explain");
  }

  static const expression* find_counter(const expression& tree) {
    if (tree.is_operation() && tree.op == scalar_op::next_counter) return &tree;
    for (const expression& argument : tree.arguments) {
      if (const expression* const found = find_counter(argument)) return found;
    }
    return nullptr;
  }

  static const expression* find_counter(const rule& rule) {
    for (const expression& argument : rule.head.arguments) {
      if (const expression* const found = find_counter(argument)) return found;
    }
    for (const literal& part : rule.body) {
      const auto* test = std::get_if<constraint>(&part);
      if (test == nullptr) continue;
      if (const expression* const found = find_counter(test->left)) return found;
      if (const expression* const found = find_counter(test->right)) return found;
    }
    return nullptr;
  }

  /// Rejects counters in recursive rules: each repeated run of a rule would count again.
  void reject_recursive_counters() {
    for (const stratum& stratum : program_.strata) {
      if (!stratum.recursive) continue;
      for (const rule_id id : stratum.rules) {
        const rule& rule = program_[id];
        const bool recursive = std::any_of(rule.body.begin(), rule.body.end(), [&](const literal& part) {
          const auto* body = std::get_if<atom>(&part);
          return body != nullptr && std::find(stratum.relations.begin(), stratum.relations.end(), body->relation) !=
                                        stratum.relations.end();
        });
        if (!recursive) continue;
        if (const expression* const counter = find_counter(rule)) {
          diagnostics_.error(counter->span, "Auto-increment functor in a recursive rule");
        }
      }
    }
  }

  const std::vector<syntax::item>& items_;
  diagnostics& diagnostics_;
  const analysis_options& options_;
  program program_;
  declarations declared_;
  inliner inliner_;
  bool inlining_refused_ = false;
  const syntax::clause* previous_ = nullptr;                           ///< before the clause that is analysed
  std::unordered_map<const syntax::clause*, syntax::clause> inlined_;  ///< clauses that use inline relations
  std::unordered_map<const syntax::subsumption*, syntax::clause> subsumption_clauses_;
  std::deque<syntax::clause> normalized_;
  std::deque<syntax::clause> queries_;
  symbol_numbers symbols_;
  std::vector<bool> has_clause_, has_subsumption_;               ///< by relation
  std::vector<const syntax::clause*> clause_of_rule_;            ///< by rule
  std::vector<const syntax::subsumption*> written_subsumption_;  ///< by subsumptive rule
};

}  // namespace

std::optional<program> analyse(const syntax::program& parsed, diagnostics& diagnostics,
                               const analysis_options& options) {
  if (!has_components(parsed.items) && !has_debug_deltas(parsed.items) && !has_lattices(parsed.items)) {
    return analyser(parsed.items, diagnostics, options).run();
  }
  std::vector<syntax::item> instantiated = instantiate_components(parsed.items, diagnostics);
  // Undeclared names in a component would cause many further errors; Soufflé stops at this point, too.
  if (diagnostics.has_errors()) return std::nullopt;
  const std::vector<syntax::item> items = insert_lattice_operations(define_debug_deltas(std::move(instantiated)));
  return analyser(items, diagnostics, options).run();
}

}  // namespace gpulog::sema
