package dev.doorbell.experiments.run;

import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.Mutator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Seals of runs. */
public final class SealTargets {
  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        new FuzzTarget(
            "seal",
            "seals of runs",
            () -> {
              Path run = Files.createTempDirectory("doorbell-fuzz");
              Files.writeString(run.resolve(RunDirectory.JOURNAL), "");
              byte[] seal = RunJson.pretty(Seal.of(run)).getBytes(StandardCharsets.UTF_8);
              return new FuzzTarget.Session() {
                @Override
                public List<byte[]> seeds() {
                  return List.of(seal);
                }

                @Override
                public List<byte[]> dictionary() {
                  return Mutator.bytes("null", "../", "\"sha256\":", "\\u0000");
                }

                @Override
                public Outcome read(byte[] input) throws IOException {
                  Path file = run.resolve(Seal.FILE);
                  Files.write(file, input);
                  try {
                    return Seal.broken(run, false).isEmpty() ? Outcome.ACCEPTED : Outcome.REFUSED;
                  } catch (IOException _) {
                    return Outcome.REFUSED;
                  }
                }

                @Override
                public void close() {
                  try {
                    for (String each : List.of(Seal.FILE, RunDirectory.JOURNAL, "")) {
                      Files.deleteIfExists(run.resolve(each));
                    }
                  } catch (IOException e) {
                    throw new IllegalStateException("the fuzz leaves files in " + run, e);
                  }
                }
              };
            }));
  }
}
