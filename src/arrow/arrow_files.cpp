// Reads and writes Parquet and Arrow files with Apache Arrow. This is a separate library, loaded when a program names
// such a file (io/formats/arrow/arrow_library.cpp), because Apache Arrow is large. gpulog and this library exchange
// only the structs of Arrow's C interface.
#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/thread_pool.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "io/formats/arrow/arrow_interface.hpp"

namespace {

using gpulog::io::arrow_format;
using gpulog::io::arrow_problem;

constexpr std::int64_t rows_per_row_group = 1 << 20;

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> open_parquet(const std::string& path) {
  parquet::ArrowReaderProperties properties;
  properties.set_use_threads(true);
  properties.set_pre_buffer(true);
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.OpenFile(path));
  builder.properties(properties);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<parquet::arrow::FileReader> file, builder.Build());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::RecordBatchReader> batches, file->GetRecordBatchReader());
  // The batches need the file reader, which is destroyed at the end of this function, so read all batches now.
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Table> table, batches->ToTable());
  auto rows = std::make_shared<arrow::TableBatchReader>(table);
  return rows;
}

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> open_arrow(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::io::ReadableFile> input, arrow::io::ReadableFile::Open(path));
  const auto file = arrow::ipc::RecordBatchFileReader::Open(input);
  if (file.ok()) {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Table> table, (*file)->ToTable());
    auto rows = std::make_shared<arrow::TableBatchReader>(table);
    return rows;
  }
  ARROW_RETURN_NOT_OK(input->Seek(0));
  return arrow::ipc::RecordBatchStreamReader::Open(input);
}

arrow::Status read_file(const std::string& path, arrow_format format, unsigned threads, ArrowArrayStream* rows) {
  ARROW_RETURN_NOT_OK(arrow::SetCpuThreadPoolCapacity(static_cast<int>(std::max(threads, 1U))));
  std::shared_ptr<arrow::RecordBatchReader> reader;
  if (format == arrow_format::parquet) {
    ARROW_ASSIGN_OR_RAISE(reader, open_parquet(path));
  } else {
    ARROW_ASSIGN_OR_RAISE(reader, open_arrow(path));
  }
  return arrow::ExportRecordBatchReader(std::move(reader), rows);
}

template <class Writer>
arrow::Status write_batches(arrow::RecordBatchReader& rows, Writer& writer) {
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::RecordBatch> batch, rows.Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(writer.WriteRecordBatch(*batch));
  }
  return writer.Close();
}

arrow::Status write_file(const std::string& path, arrow_format format, ArrowArrayStream* stream) {
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::RecordBatchReader> rows, arrow::ImportRecordBatchReader(stream));
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::io::FileOutputStream> file,
                        arrow::io::FileOutputStream::Open(path));
  if (format == arrow_format::parquet) {
    const auto properties = parquet::WriterProperties::Builder()
                                .compression(parquet::Compression::SNAPPY)
                                ->max_row_group_length(rows_per_row_group)
                                ->build();
    ARROW_ASSIGN_OR_RAISE(
        const std::unique_ptr<parquet::arrow::FileWriter> writer,
        parquet::arrow::FileWriter::Open(*rows->schema(), arrow::default_memory_pool(), file, properties));
    ARROW_RETURN_NOT_OK(write_batches(*rows, *writer));
  } else {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::ipc::RecordBatchWriter> writer,
                          arrow::ipc::MakeFileWriter(file, rows->schema()));
    ARROW_RETURN_NOT_OK(write_batches(*rows, *writer));
  }
  return file->Close();
}

/// Runs a function that returns a status; no exception leaves the library.
template <class Work>
bool guarded(arrow_problem* problem, const Work& work) {
  std::string what;
  try {
    const arrow::Status status = work();
    if (status.ok()) return true;
    what = status.message();
  } catch (const std::exception& thrown) {
    what = thrown.what();
  }
  std::replace(what.begin(), what.end(), '\n', ' ');
  const std::size_t size = std::min(what.size(), sizeof problem->text - 1);
  std::memcpy(problem->text, what.data(), size);
  problem->text[size] = '\0';
  return false;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) bool gpulog_arrow_read(const char* path, arrow_format format, unsigned threads,
                                                              ArrowArrayStream* rows, arrow_problem* problem) {
  return guarded(problem, [&] { return read_file(path, format, threads, rows); });
}

__attribute__((visibility("default"))) bool gpulog_arrow_write(const char* path, arrow_format format,
                                                               ArrowArrayStream* rows, arrow_problem* problem) {
  return guarded(problem, [&] { return write_file(path, format, rows); });
}
}
