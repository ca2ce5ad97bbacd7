#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "plan/passes/relations/supplementary.hpp"
#include "plan/rules/normalized_rule.hpp"

namespace gpulog::plan {

class planning;
struct rule_scope;
struct stratum_rules;

/// Joins on fields of records. In `val(e,n) :- sub(e), e = [l,r], val(l,n)` a new row of val searches the rows of sub
/// whose record has the field l. Records have no index on their fields, so each search would unpack all rows of sub.
/// The pass therefore creates the relation `sub@1(e,l) :- sub(e), e = [l,_]`, which can have an index. Applies if a row
/// of another atom comes first, joins on fields only, and does not determine all fields of the record.
///
/// Joins on computed values. In `depth(x,k+1) :- node(x), depth(x/2,k)` a new row of depth searches the rows of node
/// with the half x. No index on x supports this search, so each search would read all of node. The pass creates
/// `node@1(x,h) :- node(x), h = x/2` in the same way. Applies if a relation of the recursion joins on a value that is
/// computed from an atom's variables alone and from which no variable can be computed back.
///
/// Bound: a created relation has at most one row per row of its atom's relation, and is derived by one scan. The rule
/// as written reads all of these rows for each row of another atom.
///
/// Aggregates over fields (`count : { call([x,_]) }` for each x) search a relation of the fields in the same way.
class pattern_extraction {
 public:
  pattern_extraction(relation_maker make_relation, relation_namer name_of)
      : make_relation_(std::move(make_relation)), name_of_(std::move(name_of)) {}

  /// Rewrites the joins of a rule on fields and on computed values.
  /// @param members relations of the rule's stratum if the stratum is recursive
  /// @param made receives the rules of the new relations, each with one atom
  void extract(normalized_rule& rule, const std::vector<relation_id>& members, std::vector<normalized_rule>& made);

  /// Rewrites the body of an aggregate that counts assignments of variables: an atom with unnamed columns or fields
  /// reads a projection without them, so that rows which differ only there count once. Appends rules to `made` as
  /// extract() does.
  void keep_named(normalized_rule& body, std::vector<normalized_rule>& made);

  /// Rewrites the body of an aggregate with atoms that only fields of records connect to the enclosing rule. Such an
  /// atom reads a relation with its columns and the fields, with one row per row. Does not apply to relations of
  /// `members`. Appends rules to `made` as extract() does.
  void search_fields(normalized_rule& body, const std::vector<std::uint32_t>& injected,
                     const std::vector<relation_id>& members, std::vector<normalized_rule>& made);

 private:
  /// Replaces an atom with an atom of a new or existing relation.
  /// @param conditions conditions that move to the relation
  /// @param form key that identifies an equal relation
  /// @param columns variables of the relation
  /// @param content noun for the rule's text
  void read_relation(normalized_rule& rule, std::uint32_t atom, const std::vector<std::uint32_t>& conditions,
                     const std::vector<std::uint64_t>& form, const std::vector<std::uint32_t>& columns,
                     const char* content, std::vector<normalized_rule>& made);

  relation_maker make_relation_;
  relation_namer name_of_;
  std::map<std::vector<std::uint64_t>, relation_id> known_;  // by canonical form of atom and patterns
};

/// Applies pattern_extraction::keep_named to all aggregates of a rule that count assignments.
void project_counted_atoms(planning& shared, normalized_rule& rule);
/// Applies pattern_extraction::search_fields to all aggregates of a rule.
void search_aggregated_fields(planning& shared, normalized_rule& rule, const rule_scope& scope);
/// Applies pattern_extraction::extract to all rules of a stratum. Rules over the stratum's own relations become its
/// patterns.
void join_by_computed_keys(planning& shared, stratum_rules& stratum);

}  // namespace gpulog::plan
