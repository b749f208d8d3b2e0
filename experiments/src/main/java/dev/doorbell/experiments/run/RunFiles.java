package dev.doorbell.experiments.run;

import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** Writes files that were made from a run. */
public final class RunFiles {
  private RunFiles() {}

  /**
   * Puts files into a folder, each whole or not at all.
   *
   * @param folder made when it is missing
   * @return their names
   */
  public static List<String> writeAll(Disk disk, Path folder, SequencedMap<String, byte[]> files)
      throws RunException {
    try {
      Files.createDirectories(folder);
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        disk.replace(folder.resolve(file.getKey()), file.getValue());
      }
      return List.copyOf(files.keySet());
    } catch (IOException e) {
      throw new RunException(
          RunException.Kind.UNWRITABLE,
          Problem.of("DB-R004", folder.toString(), "cannot write: " + RunDirectory.reason(e))
              .effect("files that stand there are whole")
              .fix("choose another folder with --out DIR"),
          e);
    }
  }
}
