package dev.doorbell.kernels;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/** The folder kernels, in which Maven runs this module's tests. */
final class SourceTree {
  static final Path ROOT = Path.of("").toAbsolutePath();
  static final Path ABI = ROOT.resolve("include/doorbell/abi.h");

  private SourceTree() {}

  /** Paths relative to the root of the files in {@code folder} with one of the endings, sorted. */
  static List<String> files(String folder, String... endings) throws IOException {
    try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
      return files
          .map(path -> folder + "/" + path.getFileName())
          .filter(path -> Stream.of(endings).anyMatch(path::endsWith))
          .sorted()
          .toList();
    }
  }

  /** Returns the text of a file, unpacked if it is compressed. */
  static String text(Path file) throws IOException {
    return new String(bytes(file), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(Path file) throws IOException {
    if (!file.toString().endsWith(".gz")) {
      return Files.readAllBytes(file);
    }
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
      return in.readAllBytes();
    }
  }

  /** Returns the digest of a file, of its text if it is compressed: compressors differ. */
  static String sha256(Path file) throws IOException {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes(file));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
