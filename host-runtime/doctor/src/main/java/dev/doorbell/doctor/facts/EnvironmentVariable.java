package dev.doorbell.doctor.facts;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A variable that a communication library may read.
 *
 * @param origin {@code environment}, or the file that sets it
 */
public record EnvironmentVariable(String name, String value, String origin) {
  private static final Pattern WANTED = Pattern.compile("(NCCL|NVSHMEM|UCX)_[A-Z0-9_]+");
  private static final String NCCL_FILE = "etc/nccl.conf";

  /**
   * Reads the variables of this process, and those that {@code /etc/nccl.conf} sets for NCCL, over
   * which the environment goes.
   */
  static List<EnvironmentVariable> read(Root root) {
    Map<String, EnvironmentVariable> found = new TreeMap<>();
    put(found, "/" + NCCL_FILE, root.lines(NCCL_FILE));
    String environment = root.text("proc/self/environ").orElse("");
    put(found, "environment", List.of(environment.split("\0", -1)));
    return List.copyOf(found.values());
  }

  private static void put(
      Map<String, EnvironmentVariable> found, String origin, List<String> lines) {
    for (String line : lines) {
      int equals = line.indexOf('=');
      if (equals > 0 && WANTED.matcher(line.substring(0, equals).strip()).matches()) {
        String name = line.substring(0, equals).strip();
        found.put(name, new EnvironmentVariable(name, line.substring(equals + 1).strip(), origin));
      }
    }
  }
}
