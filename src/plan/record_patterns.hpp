#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "plan/normalized_rule.hpp"
#include "plan/supplementary.hpp"

namespace gpulog::plan {

/// Joins on fields of records. In `val(e,n) :- sub(e), e = [l,r], val(l,n)` a new row of val asks for the rows of sub
/// whose record has the field l; a record has no index on its fields, so that all rows of sub would be unpacked for
/// each. Instead `sub@1(e,l) :- sub(e), e = [l,_]` becomes a relation, which has an index like any other. Done where a
/// row of another atom would come first and is joined by fields alone, without all fields for the record itself.
class pattern_extraction {
 public:
  pattern_extraction(relation_maker make_relation, relation_namer name_of)
      : make_relation_(std::move(make_relation)), name_of_(std::move(name_of)) {}

  /// Rewrites a rule. members: the relations of its stratum if that is recursive. Appends rules for the relations made,
  /// each with one atom.
  void extract(normalized_rule& rule, const std::vector<relation_id>& members, std::vector<normalized_rule>& made);

  /// For the body of an aggregate that counts assignments of variables: an atom with columns or fields that have no
  /// name reads a relation without them, so that rows that differ there alone are one. Appends rules as above.
  void keep_named(normalized_rule& body, std::vector<normalized_rule>& made);

 private:
  /// columns: the variables that the relation has; form: what makes it the same as another one.
  void read_relation(normalized_rule& rule, std::uint32_t atom, const std::vector<std::uint32_t>& patterns,
                     const std::vector<std::uint64_t>& form, const std::vector<std::uint32_t>& columns,
                     std::vector<normalized_rule>& made);

  relation_maker make_relation_;
  relation_namer name_of_;
  std::map<std::vector<std::uint64_t>, relation_id> known_;  // by canonical form of atom and patterns
};

}  // namespace gpulog::plan
