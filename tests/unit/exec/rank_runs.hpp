#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <string>

#include "analysed_text.hpp"
#include "exec/ranks/rank_divider.hpp"
#include "oracle/rank_threads.hpp"
#include "plan_run.hpp"

namespace gpulog::exec {

/// Evaluates a program twice with three ranks, which evaluate strata together wherever possible.
/// @param check receives the run, or the message of its failure
inline void evaluate_on_ranks(const std::string& text, const rank_means& means,
                              const std::function<void(plan_run* run, const std::string& failure)>& check) {
  const analysed_text source(text);
  const plan::program plan = plan::make_plan(source.program, {}, {});
  oracle::on_ranks(3, [&](ranks::rank_group& group) {
    rank_divider divider(group, means, tuning_mode::always);
    options chosen;
    chosen.divider = &divider;
    for (int i = 0; i < 2; ++i) {  // the second run begins with the ranks of a failed run
      divider.begin_program();
      plan_run run(plan, {}, 0, chosen);
      try {
        run->evaluate();
        check(&run, {});
      } catch (const std::exception& failure) {
        check(nullptr, failure.what());
      }
    }
  });
}

/// Returns the failure of a follower without the name of its rank. If several followers fail at the same time, the
/// first one stops the others.
inline std::string message_of_follower(const std::string& failure) {
  const std::size_t end = std::min(failure.find("): "), failure.size());
  const std::string process = fmt::format(" (process {} on ", ::getpid());
  EXPECT_TRUE(failure.starts_with("rank 1" + process) || failure.starts_with("rank 2" + process)) << failure;
  return failure.substr(std::min(end + 3, failure.size()));
}

}  // namespace gpulog::exec
