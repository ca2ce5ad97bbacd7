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

/// Joins on fields of records. In `val(e,n) :- sub(e), e = [l,r], val(l,n)` a new row of val asks for the rows of sub
/// whose record has the field l; a record has no index on its fields, so that all rows of sub would be unpacked for
/// each. Instead `sub@1(e,l) :- sub(e), e = [l,_]` becomes a relation, which has an index like any other. Done where a
/// row of another atom would come first and is joined by fields alone, without all fields for the record itself.
///
/// Joins on computed values. In `depth(x,k+1) :- node(x), depth(x/2,k)` a new row of depth asks for the rows of node
/// with the half x, which no index on x finds: all of node would be read for each. Instead `node@1(x,h) :- node(x), h =
/// x/2` becomes a relation in the same way. Done where a relation of the recursion is joined by a value that is
/// computed from an atom's variables alone, and from which no variable can be computed back.
///
/// Aggregates over fields (`count : { call([x,_]) }` for each x) search a relation of the fields in the same way.
class pattern_extraction {
 public:
  pattern_extraction(relation_maker make_relation, relation_namer name_of)
      : make_relation_(std::move(make_relation)), name_of_(std::move(name_of)) {}

  /// Rewrites a rule, for fields and for computed values. members: the relations of its stratum if that is recursive.
  /// Appends rules for the relations made, each with one atom.
  void extract(normalized_rule& rule, const std::vector<relation_id>& members, std::vector<normalized_rule>& made);

  /// For the body of an aggregate that counts assignments of variables: an atom with columns or fields that have no
  /// name reads a relation without them, so that rows that differ there alone are one. Appends rules as above.
  void keep_named(normalized_rule& body, std::vector<normalized_rule>& made);

  /// For the body of an aggregate, and atoms that only fields of records connect with the rule around it. Such an atom
  /// reads a relation with the fields beside its columns, a row for each of its rows. Not for relations of `members`.
  /// Appends as above.
  void search_fields(normalized_rule& body, const std::vector<std::uint32_t>& injected,
                     const std::vector<relation_id>& members, std::vector<normalized_rule>& made);

 private:
  /// conditions: taken to the relation; columns: the variables that it has; form: what makes it the same as another
  /// one; content: for its text.
  void read_relation(normalized_rule& rule, std::uint32_t atom, const std::vector<std::uint32_t>& conditions,
                     const std::vector<std::uint64_t>& form, const std::vector<std::uint32_t>& columns,
                     const char* content, std::vector<normalized_rule>& made);

  relation_maker make_relation_;
  relation_namer name_of_;
  std::map<std::vector<std::uint64_t>, relation_id> known_;  // by canonical form of atom and patterns
};

/// pattern_extraction::keep_named, in all aggregates of a rule that count assignments.
void project_counted_atoms(planning& shared, normalized_rule& rule);
/// pattern_extraction::search_fields, in all aggregates of a rule.
void search_aggregated_fields(planning& shared, normalized_rule& rule, const rule_scope& scope);
/// pattern_extraction::extract, in all rules of a stratum. Rules over its own relations become its patterns.
void join_by_computed_keys(planning& shared, stratum_rules& stratum);

}  // namespace gpulog::plan
