#include "engine/state/state_identity.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "engine/again/affected.hpp"
#include "gpulog/error.hpp"
#include "gpulog/options.hpp"
#include "io/directive_parameters.hpp"
#include "io/facts_reader.hpp"
#include "io/files/byte_source.hpp"
#include "io/files/content_hash.hpp"
#include "sema/order_dependence.hpp"

namespace gpulog::detail {
namespace {

/// Pragmas with names of folders: gpulog compares the contents of files.
constexpr std::string_view folder_pragmas[] = {"fact-dir", "output-dir", "libraries", "library-dir"};

/// Hashes texts together with their lengths.
class text_hasher {
 public:
  void add(std::string_view text) {
    hasher_.add(fmt::format("{}:", text.size()));
    hasher_.add(text);
  }
  [[nodiscard]] std::string finish() { return hasher_.finish().text(); }

 private:
  io::content_hasher hasher_;
};

/// Returns the hash of a readable regular file.
std::optional<std::string> hash_of_file(const std::filesystem::path& path, io::task_runner& threads) {
  const io::file_descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (opened.number() < 0 || ::fstat(opened.number(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  try {
    const io::mapped_file mapped(opened, static_cast<std::size_t>(status.st_size));
    return io::hash_content(mapped.bytes(), threads).text();
  } catch (const io::read_failure&) {
    return {};  // load() reports the reason
  }
}

std::string hash_of_program(const program_state& source) {
  text_hasher all;
  for (const source_manager* sources : {&source.sources, &source.query_sources}) {
    all.add(std::to_string(sources->files().size()));
    for (const auto& file : sources->files()) all.add(file->text());
  }
  return all.finish();
}

std::string hash_of_options(const run_context& run) {
  text_hasher all;
  const auto add_all = [&all](const auto& texts) {
    all.add(std::to_string(texts.size()));
    for (const std::string& text : texts) all.add(text);
  };
  const compile_options& options = run.source->options;
  add_all(options.macros);
  add_all(run.source->filled_relations);
  for (const auto& [name, value] : run.analysed().pragmas) {
    if (std::find(std::begin(folder_pragmas), std::end(folder_pragmas), name) != std::end(folder_pragmas)) continue;
    all.add(name);
    all.add(value);
  }
  all.add(options.only_queries ? "queries" : "outputs");
  all.add(run.options.proofs ? "proofs" : "");
  all.add(run.tuned.planning.modes.is_always("unneeded-relations") ? "needed" : "all");
  std::string needed;
  for (const bool is_needed : run.needed) needed += is_needed ? '1' : '0';
  all.add(needed);
  for (const auto& functor : run.options.functors) all.add(functor.first);
  return all.finish();
}

std::string hash_of_functors(const run_context& run) {
  text_hasher all;
  io::task_runner threads(run.options.jobs);
  for (const std::string& path : run.functors.library_files()) {
    const auto hash = hash_of_file(path, threads);
    if (!hash) throw input_error(fmt::format("Cannot read {}, a library of functors", path));
    all.add(*hash);
  }
  return all.finish();
}

/// Returns why the results of a relation depend on the order of facts or on earlier evaluations; empty: independent.
std::string_view order_dependence_of(const sema::program& program, const sema::relation& relation) {
  if (!relation.choice_domains.empty()) return "a choice-domain";
  if (!relation.subsumptions.empty() && !relation.is_aggregate) return "a subsumption";
  if (relation.size_limit) return ".limitsize";
  for (const rule_id id : relation.rules) {
    if (sema::notices_order(program[id], sema::has_stateful_functors(program)))
      return "a counter, or an aggregate that depends on the order";
  }
  return {};
}

}  // namespace

state_identity identity_of(const run_context& run) {
  return {{"version", std::string(version())},
          {"word size", std::to_string(static_cast<unsigned>(run.source->words))},
          {"program", hash_of_program(*run.source)},
          {"options", hash_of_options(run)},
          {"functors", hash_of_functors(run)}};
}

std::string why_different(const state_identity& stored, const state_identity& now) {
  for (const auto& entry : now) {
    const std::string& subject = entry.first;
    const std::string& value = entry.second;
    const auto before =
        std::find_if(stored.begin(), stored.end(), [&](const auto& one) { return one.first == subject; });
    const std::string old = before == stored.end() ? "" : before->second;
    if (old == value) continue;
    if (subject == "version") return fmt::format("gpulog {} stored it, and this is gpulog {}", old, value);
    if (subject == "word size") return fmt::format("its words have {} bits instead of {}", old, value);
    return subject == "functors" ? "a library of functors has changed"
                                 : fmt::format("the {} of the run changed", subject);
  }
  return {};
}

std::vector<input_version> input_versions_of(const run_context& run) {
  std::vector<input_version> versions;
  io::task_runner threads(run.options.jobs);
  for (std::uint32_t number = 0; number < run.analysed().relations.size(); ++number) {
    const sema::relation& relation = run.relation(number);
    if (!run.needed[number] || run.source->filled_relations.contains(relation.name)) continue;
    for (const sema::io_directive& directive : relation.directives) {
      if (directive.kind != sema::directive_kind::input) continue;
      const auto format = directive.parameters.find("IO");
      // Parts of a database may be in other files.
      const bool is_database = format != directive.parameters.end() && format->second == "sqlite";
      const auto path = io::input_file_of(io::name_in_files(relation.name, directive.parameters), directive.parameters,
                                          run.options.fact_directory);
      input_version& one = versions.emplace_back();
      one.relation = number;
      std::error_code unknown;
      if (!path || is_database) continue;
      if (run.options.missing_facts_are_empty && !std::filesystem::exists(*path, unknown)) {
        one.content = "missing";
      } else {
        one.content = hash_of_file(*path, threads).value_or("");
      }
    }
  }
  return versions;
}

std::string why_from_scratch(const run_context& run, const std::vector<bool>& changed) {
  const sema::program& program = run.analysed();
  if (sema::has_stateful_functors(program)) return "the program has stateful functors";
  if (!is_any(changed)) return {};
  if (sema::reads_internal_numbers(program))
    return "facts have changed, and a rule reads internal numbers of symbols or records";
  const std::vector<bool> affected = affected_by(program, changed);
  for (std::uint32_t number = 0; number < affected.size(); ++number) {
    if (!affected[number] || !run.needed[number]) continue;
    const std::string_view reason = order_dependence_of(program, run.relation(number));
    if (!reason.empty())
      return fmt::format("facts have changed, and relation {} has {}", run.relation(number).name, reason);
  }
  return {};
}

}  // namespace gpulog::detail
