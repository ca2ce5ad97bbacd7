#include <fmt/format.h>

#include <string>
#include <utility>

#include "engine/state/stored_results.hpp"
#include "io/directive_parameters.hpp"
#include "io/relation_writer.hpp"

/// Writes what changed since the stored results (run_options::changes_directory).
namespace gpulog::detail {
namespace {

/// Returns the parameters of a file with added or removed tuples, in the form of the .output.
std::map<std::string, std::string> parameters_of(const sema::io_directive& output, const std::string& name,
                                                 const char* what) {
  std::map<std::string, std::string> parameters = {{"IO", "file"}, {"filename", fmt::format("{}.{}.csv", name, what)}};
  for (const char* const key : {"delimiter", "headers", "rfc4180"}) {
    if (const auto given = output.parameters.find(key); given != output.parameters.end()) parameters.insert(*given);
  }
  return parameters;
}

}  // namespace

template <class Visit>
void stored_results::for_each_output(const Visit& visit) const {
  for (std::uint32_t number = 0; number < run_.analysed().relations.size(); ++number) {
    const sema::relation& relation = run_.relation(number);
    for (const sema::io_directive& directive : relation.directives) {
      if (relation.is_query || directive.kind != sema::directive_kind::output) continue;
      visit(number, io::name_in_files(relation.name, directive.parameters), directive);
      break;  // several outputs of a relation have the same tuples
    }
  }
}

void stored_results::check_changes(const std::filesystem::path& folder) const {
  io::output_check files;
  for_each_output([&](std::uint32_t, const std::string& name, const sema::io_directive& directive) {
    for (const char* const what : {"added", "removed"})
      io::require_writable(name, {parameters_of(directive, name, what), folder, run_.options.jobs}, files);
  });
}

void stored_results::write_changes(const std::filesystem::path& folder, io::output_files& files) const {
  backend::memory_resource& memory = run_.values.memory;
  for_each_output([&](std::uint32_t number, const std::string& name, const sema::io_directive& directive) {
    const std::size_t arity = run_.relation(number).attributes.size();
    const row_view before = rows_before(number);
    staged_rows pairs;
    row_view now{{}, results_.rows(number)};
    if (results_.home(number) == before_) {
      now = before;
    } else if (run_.is_equivalence(number)) {
      pairs = joined(results_.results_of(number), arity, memory);
      now.columns = pairs.pointers();
    } else {
      now.columns = results_.columns_of(number);
    }
    now.columns.resize(arity);
    const bool is_same = results_.home(number) == before_;
    const auto write = [&](const row_view& all, const row_view& others, const char* what) {
      const staged_rows rows = is_same ? staged_rows{} : rows_only_in(all, others, memory);
      io::relation_rows written = files_.rows_of(number, directive);
      written.rows = rows.rows;
      written.columns = rows.pointers();
      written.columns.resize(arity);
      io::write_relation(written, {parameters_of(directive, name, what), folder, run_.options.jobs},
                         run_.values.symbols, files);
    };
    write(now, before, "added");
    write(before, now, "removed");
  });
}

}  // namespace gpulog::detail
