#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "io/fact_source.hpp"
#include "io/facts_reader.hpp"
#include "io/formats/text/row_layout.hpp"
#include "io/formats/text/row_parser.hpp"
#include "io/formats/text/text_stream.hpp"
#include "io/piece_queue.hpp"

namespace gpulog::io {

/// Minimum bytes of a piece: parsing takes longer than starting a thread.
inline constexpr std::size_t least_piece_bytes = std::size_t{1} << 16;

/// Pieces of a mapped file per thread: enough to share the work.
inline constexpr std::size_t pieces_per_thread = 4;

/// Shared state of files that are read beside each other.
struct text_load {
  storage::symbol_table& symbols;
  storage::ordered_interning* order;  ///< nullptr: a single thread assigns final numbers
  unsigned threads;
  piece_queue queue;
  std::mutex callbacks;  ///< held while a callback of a request runs
  /// Number of the first file that failed for other reasons than memory: later files need not be read.
  std::atomic<std::uint64_t> first_failed = UINT64_MAX;
};

/// Reads one file of text in pieces. An uncompressed file is mapped: jobs count the rows of its pieces, the columns are
/// allocated, and jobs parse the pieces into the columns. Any other source is a sequence of pieces: a job parses each
/// piece, and when the number of rows is known, jobs copy the rows into the columns.
class text_loading {
 public:
  using opener = std::function<std::optional<fact_source>()>;

  /// @param number in program order
  text_loading(facts_file& file, std::uint64_t number, opener open, text_load& load)
      : file_(file), number_(number), open_(std::move(open)), load_(load), parameters_(file.request.parameters) {}

  /// A step of the sequence for the piece_queue. Stores exceptions in the outcome of the file.
  std::uint64_t step();
  /// The columns of the file, after reading.
  [[nodiscard]] const std::vector<word*>& columns() const { return columns_; }
  [[nodiscard]] const row_layout& layout() const { return layout_; }

 private:
  enum class source_kind { none, mapped, stream };
  /// A piece of whole rows.
  struct piece {
    byte_buffer memory;  ///< of the text of a stream
    text_piece text;
    std::uint64_t offset = 0;  ///< of the text in the file
    std::uint64_t rows = 0;
    std::uint64_t lines = 0;
    std::uint64_t first_row = 0;
    backend::array<word> words;  ///< rows of a stream before the columns are allocated, column by column
    row_problems problems;
  };

  template <class Work>
  void guarded(const Work& work);
  [[noreturn]] void refuse(const std::string& what) const { fact_source::refuse(what, source_name_); }
  std::uint64_t begin();
  source_kind open();
  [[nodiscard]] std::uint64_t remaining_bytes() const;
  void prepare_layout();
  void finish();

  void cut_text(std::string_view text);
  void cut_lines(std::string_view text, std::uint64_t first_line);
  void cut_rows(std::string_view text, std::uint64_t first_line);
  [[nodiscard]] std::size_t bytes_of_piece(std::size_t text) const;
  void parse_text();

  bool read_piece();
  void parse_streamed(piece& here);
  void end_piece();
  void gather();

  void allocate();
  row_problems parse(const piece& here, const std::vector<word*>& columns);
  void require_rows(bool is_stream);

  facts_file& file_;
  std::uint64_t number_;
  opener open_;
  text_load& load_;
  directive_parameters parameters_;
  row_layout layout_;
  bool is_open_ = false;
  bool has_headers_ = false;
  std::string source_name_;
  bool begins_with_mark_ = false;
  std::uint64_t expected_bytes_ = 0;
  std::unique_ptr<mapped_file> mapped_;
  std::unique_ptr<byte_source> source_;
  std::optional<text_stream> stream_;
  std::uint64_t read_bytes_ = 0;
  std::deque<piece> pieces_;             ///< jobs hold references
  std::atomic<std::size_t> unended_{1};  ///< pieces of a stream, and the stream itself
  std::atomic<std::uint64_t> problems_{0};
  std::vector<word*> columns_;
  std::mutex failing_;
};

}  // namespace gpulog::io
