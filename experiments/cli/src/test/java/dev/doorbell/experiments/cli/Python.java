package dev.doorbell.experiments.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** The machine's Python. */
final class Python {
  /** Why a test that needs pandas is skipped. */
  static final String HOW_TO_GET_PANDAS =
      "needs pandas: apt-get install python3-pandas, or pip install pandas and"
          + " -Ddoorbell.python=PYTHON";

  private Python() {}

  /**
   * The path of a Python that has a module: that of {@code -Ddoorbell.python}, the first on the
   * path, the system's own, or the one that .ci/run makes.
   */
  static Optional<String> with(String module) throws IOException, InterruptedException {
    for (String python :
        List.of(
            System.getProperty("doorbell.python", "python3"),
            "/usr/bin/python3",
            System.getProperty("user.home") + "/.cache/doorbell/python/bin/python")) {
      String path = importing(python, module);
      if (!path.isEmpty()) {
        return Optional.of(path);
      }
    }
    return Optional.empty();
  }

  /** Its path; empty where it has no such module, or there is no such program. */
  private static String importing(String python, String module)
      throws IOException, InterruptedException {
    try {
      Process process =
          new ProcessBuilder(python, "-c", "import sys, " + module + "; print(sys.executable)")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String path = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? path.strip() : "";
    } catch (IOException _) {
      return "";
    }
  }
}
