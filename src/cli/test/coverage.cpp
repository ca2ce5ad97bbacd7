#include "cli/test/coverage.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "engine/program_state.hpp"

namespace gpulog::cli {

namespace {

/// Choices that replace rules, join rules, or compute several rules together.
constexpr const char* replacing_choices[] = {"unneeded-relations",
                                             "magic-transform",
                                             "magic-sets",
                                             "shared-bodies",
                                             "repeated-rules",
                                             "supplementary",
                                             "semi-join-reduction",
                                             "invariant-columns",
                                             "aggregated-fields",
                                             "computed-keys",
                                             "rows"};

}  // namespace

void prepare_coverage(run_options& options) {
  for (const char* const choice : replacing_choices) options.tuning.insert_or_assign(choice, "off");
}

void add_coverage(const program& source, const statistics& figures, std::string_view excluded,
                  std::vector<rule_coverage>& rules) {
  std::set<std::pair<std::string, std::string>> deriving;
  for (const stratum_statistics& stratum : figures.strata) {
    for (const rule_statistics& rule : stratum.rules) {
      if (rule.candidates > 0) deriving.emplace(rule.location, rule.rule);
    }
  }
  const sema::program& analysed = *source.state()->analysed;
  for (const sema::rule& rule : analysed.rules) {
    const bool is_fact = rule.body.empty();
    if (is_fact || analysed[rule.head.relation].is_query || rule.span.file->path() == excluded) continue;
    const std::string path = std::filesystem::path(rule.span.file->path()).lexically_normal().string();
    rules.push_back({fmt::format("{}:{}", path, rule.span.file->position(rule.span.begin).line), rule.text,
                     deriving.contains({to_string(rule.span), rule.text})});
  }
}

std::vector<rule_coverage> joined_coverage(const std::vector<test_result>& results) {
  std::vector<rule_coverage> joined;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers;
  for (const test_result& result : results) {
    for (const rule_coverage& rule : result.rules) {
      const auto [place, is_new] = numbers.emplace(std::pair(rule.location, rule.rule), joined.size());
      if (is_new) joined.push_back(rule);
      joined[place->second].derives = joined[place->second].derives || rule.derives;
    }
  }
  return joined;
}

}  // namespace gpulog::cli
