# gpulog for CPUs with Parquet and Arrow files, built from a clone:
#
#   docker build -t gpulog:cpu .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" gpulog:cpu program.dl -D-
#   docker run --rm -it --user "$(id -u):$(id -g)" -v "$PWD:/data" gpulog:cpu
#
# The second command runs a program of the working directory; --user makes you the owner of the output files. The third
# command opens a session: -it connects your terminal, also for the progress line of a long run.
FROM debian:12-slim AS build
WORKDIR /gpulog
COPY scripts/packages scripts/install_packages scripts/install_arrow scripts/
RUN bash -c '. scripts/packages && scripts/install_packages "${build_packages[@]}" "${deb_packages[@]}"' \
 && scripts/install_arrow
# Only these files are compiled: a change of documents or tests keeps the layers up to here.
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake cmake
COPY include include
COPY src src
RUN cmake --preset package -DGPULOG_GPU=off -DGPULOG_ARROW=ON -DGPULOG_FEW_UNITS=ON \
 && cmake --build --preset package \
 && mkdir arrow && cp build/package/libgpulog_arrow.so build/arrow/lib/python3*/site-packages/pyarrow/libarrow.so.* \
      build/arrow/lib/python3*/site-packages/pyarrow/libparquet.so.* arrow
COPY CHANGELOG.md ./
RUN cd build/package && cpack -G DEB -D CPACK_COMPONENTS_ALL=command

FROM debian:12-slim
COPY --from=build /gpulog/build/package/gpulog_*.deb /tmp/
RUN apt-get update -q && apt-get install -q -y --no-install-recommends /tmp/gpulog_*.deb \
 && rm -rf /var/lib/apt/lists/* /tmp/gpulog_*.deb \
 && useradd --uid 1000 --create-home gpulog
# gpulog loads libgpulog_arrow.so from the folder lib beside the folder of the command.
COPY --from=build /gpulog/arrow/ /usr/lib/
USER gpulog
WORKDIR /data
ENTRYPOINT ["gpulog"]
