package dev.doorbell.experiments.run;

import static java.util.Objects.requireNonNull;

import dev.doorbell.core.Sha256;
import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * The seal of a run that has ended: digests of its resolved config, its kernels, its manifest and
 * its journal, which has the digests of the samples. It shows what was changed or lost since; it is
 * no signature.
 *
 * @param sha256 by file, relative to the run's directory
 */
record Seal(SequencedMap<String, String> sha256) {
  static final String FILE = "seal.json";

  private static final List<String> FILES =
      List.of(
          RunDirectory.RESOLVED, RunDirectory.MANIFEST, RunDirectory.JOURNAL, RunDirectory.KERNELS);

  Seal {
    requireNonNull(sha256, "sha256").values().forEach(Objects::requireNonNull);
  }

  static Seal of(Path run) throws IOException {
    SequencedMap<String, String> sha256 = new LinkedHashMap<>();
    for (String name : FILES) {
      if (Files.exists(run.resolve(name))) {
        try (Stream<Path> files = Files.walk(run.resolve(name))) {
          for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
            sha256.put(run.relativize(file).toString(), Sha256.hex(Files.readAllBytes(file)));
          }
        }
      }
    }
    return new Seal(sha256);
  }

  /**
   * Returns what is not as it was sealed: a problem for each file.
   *
   * @param unsealed whether the run ended without a seal, or before there were seals
   */
  static List<Problem> broken(Path run, boolean unsealed) throws IOException {
    Path file = run.resolve(FILE);
    if (!Files.exists(file)) {
      return unsealed
          ? List.of()
          : List.of(problem(run, FILE, "the run ended with a seal, and it is gone"));
    }
    byte[] bytes = RunDirectory.bytes(file);
    Seal sealed;
    try {
      sealed = RunJson.read(bytes, 0, bytes.length, Seal.class);
    } catch (IOException _) {
      return List.of(problem(run, FILE, "it is no seal any more"));
    }
    Map<String, String> now = of(run).sha256;
    List<Problem> broken = new ArrayList<>();
    sealed.sha256.forEach(
        (name, digest) -> {
          if (!digest.equals(now.get(name))) {
            broken.add(
                problem(
                    run,
                    name,
                    now.containsKey(name) ? "it was changed after the run ended" : "it is gone"));
          }
        });
    return broken;
  }

  private static Problem problem(Path run, String name, String what) {
    return Problem.of("DB-R012", run + "/" + name, what)
        .effect("the run is not what it was when it ended")
        .fix("put the file back, or measure again what is missing: doorbell run --resume " + run);
  }
}
