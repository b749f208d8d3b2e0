package dev.doorbell.experiments.session;

final class PtxTemp {
  static String read(String k) {
    try {
      return java.nio.file.Files.readString(
          java.nio.file.Path.of("/work/main/kernels/ptx/" + k + ".ptx"));
    } catch (java.io.IOException e) {
      throw new RuntimeException(e);
    }
  }
}
