package dev.doorbell.experiments.fuzz;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Inputs that are kept of one target: each reached code that the others did not reach, or was a
 * finding once. They are an archive among the resources of the tests.
 */
final class Corpus {
  private static final String FOLDER = "/dev/doorbell/experiments/fuzz/corpus/";

  /** Larger ones are found again, and would be most of the archive. */
  private static final int MOST_BYTES = 1024;

  private Corpus() {}

  /** Returns the inputs that are kept. */
  static List<byte[]> of(String target) throws IOException {
    List<byte[]> inputs = new ArrayList<>();
    try (InputStream in = Corpus.class.getResourceAsStream(FOLDER + target + ".zip")) {
      if (in == null) {
        return inputs;
      }
      ZipInputStream archive = new ZipInputStream(in);
      while (archive.getNextEntry() != null) {
        inputs.add(archive.readAllBytes());
      }
    }
    return inputs;
  }

  private static boolean isSmall(Path file) {
    return file.toFile().length() <= MOST_BYTES;
  }

  /** Writes the small files of a folder as what is kept: the same bytes for the same files. */
  static void keep(String target, Path from, Path resources) throws IOException {
    Path archive = resources.resolve(FOLDER.substring(1) + target + ".zip");
    Files.createDirectories(archive.resolveSibling("."));
    try (Stream<Path> files = Files.list(from);
        ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(archive))) {
      out.setLevel(Deflater.BEST_COMPRESSION);
      for (Path file : files.filter(Corpus::isSmall).sorted().toList()) {
        ZipEntry entry = new ZipEntry(file.getFileName().toString().substring(0, 8));
        entry.setTime(0);
        out.putNextEntry(entry);
        out.write(Files.readAllBytes(file));
      }
    }
  }
}
