#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/evaluations.hpp"
#include "engine/rows/fact_store.hpp"
#include "engine/run_context.hpp"
#include "io/facts_reader.hpp"
#include "io/files/output_files.hpp"
#include "io/relation_writer.hpp"

namespace gpulog::detail {

/// The files of a program's directives: facts (.input), results (.output and .printsize), and answers to queries.
class program_files {
 public:
  /// @throws input_error as fit_to_program()
  program_files(run_context& run, fact_store& facts, const evaluations& results)
      : run_(run), facts_(facts), results_(results), loaded_(facts.size()) {
    fit_to_program();
  }

  /// Reads the facts of needed relations.
  void load();
  /// Returns the number of files that load() reads.
  [[nodiscard]] std::uint64_t input_count() const;
  /// Returns whether a file changed after it was read.
  [[nodiscard]] bool have_changed() const;
  /// From now on, load() reads only files of relations that were not read before.
  void read_once() { reads_once_ = true; }
  /// From now on, load() does not read the files of the relation, and no file twice.
  void skip(std::uint32_t relation) { loaded_[relation] = reads_once_ = true; }
  /// Reads the files of the relation again.
  void forget(std::uint32_t relation) { loaded_[relation] = false; }
  void reset();

  /// Prepares for the relations of a new program, and finds the files of the outputs.
  /// @throws input_error for two outputs to one file
  void fit_to_program();
  /// Finds outputs that can't be written; called before loading. @throws input_error, output_error
  void check_outputs() const;
  /// Writes files under temporary names, then standard output.
  /// @param files receives the files, which get their final names later
  void write(io::output_files& files);
  /// Returns the description of a relation for a writer, without rows.
  [[nodiscard]] io::relation_rows rows_of(std::uint32_t relation, const sema::io_directive& directive) const;

 private:
  /// Properties of a file that show whether it changed.
  struct version {
    std::filesystem::file_time_type written;
    std::uintmax_t bytes = 0;
    friend bool operator==(const version&, const version&) = default;
  };
  struct pending_input;
  struct pending_output;
  /// @return std::nullopt if the file does not exist
  [[nodiscard]] static std::optional<version> version_of(const std::filesystem::path& path);

  /// Calls visit(relation, directive) for each file, in the order in which load() reads them.
  template <class Visit>
  void for_each_input(const Visit& visit) const;
  [[nodiscard]] io::read_request read_request_of(std::uint32_t relation, const sema::io_directive& directive);
  [[nodiscard]] std::unique_ptr<pending_input> prepare_input(std::uint32_t relation,
                                                             const sema::io_directive& directive);
  void load_together(std::vector<std::unique_ptr<pending_input>> inputs);
  [[noreturn]] void rethrow_failure(const std::string& relation, const std::exception_ptr& failure) const;
  void note_file(const std::string& relation, const std::map<std::string, std::string>& parameters);

  [[nodiscard]] io::write_request request_of(const sema::io_directive& directive) const;
  [[nodiscard]] bool is_written(const sema::relation& relation, const sema::io_directive& directive) const;
  /// Calls visit(relation, directive) for the .output directives that are executed.
  template <class Visit>
  void for_each_output(const Visit& visit) const;
  [[nodiscard]] pending_output prepare_output(std::uint32_t relation, const sema::io_directive& directive);
  void write_output(pending_output& output, unsigned threads, io::output_files& files);
  void note_output(const pending_output& output, io::output_files& files);
  void write_alone(pending_output output, io::output_files& files);
  void write_files(std::vector<pending_output> outputs, io::output_files& files);
  void write_together(std::vector<pending_output> outputs, io::output_files& files);

  run_context& run_;
  fact_store& facts_;
  const evaluations& results_;
  std::vector<bool> loaded_;  ///< by relation: whether load() has read the files
  bool reads_once_ = false;
  std::map<std::filesystem::path, std::optional<version>> versions_;  ///< of files when they were read
  /// The files of .output directives; std::nullopt for a pipe, a device or standard output.
  std::map<const sema::io_directive*, std::optional<io::output_place>> places_;
};

}  // namespace gpulog::detail
