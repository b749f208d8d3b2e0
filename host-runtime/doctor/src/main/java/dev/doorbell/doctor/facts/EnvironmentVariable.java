package dev.doorbell.doctor.facts;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A variable that a communication library may read.
 *
 * @param origin {@code environment}, or the file that sets it
 * @param missing whether it names a file, and that file is not there
 */
public record EnvironmentVariable(String name, String value, String origin, boolean missing) {
  private static final Pattern WANTED = Pattern.compile("(NCCL|NVSHMEM|UCX)_[A-Z0-9_]+");
  private static final Set<String> FILES =
      Set.of("NCCL_TOPO_FILE", "NCCL_GRAPH_FILE", "NCCL_CONF_FILE");
  private static final String NCCL_FILE = "etc/nccl.conf";

  /**
   * Reads the variables of this process, and those that NCCL's files set for it: {@code
   * /etc/nccl.conf}, over which the user's file goes ({@code NCCL_CONF_FILE}, else {@code
   * ~/.nccl.conf}), over which the environment goes.
   */
  static List<EnvironmentVariable> read(Root root) {
    Map<String, EnvironmentVariable> found = new TreeMap<>();
    List<String> environment = List.of(root.text("proc/self/environ").orElse("").split("\0", -1));
    put(root, found, "/" + NCCL_FILE, root.lines(NCCL_FILE));
    String named = value(environment, "NCCL_CONF_FILE=");
    String home = value(environment, "HOME=");
    String user = named.isEmpty() && !home.isEmpty() ? home + "/.nccl.conf" : named;
    if (!user.isEmpty()) {
      put(root, found, user, root.lines(relative(user)));
    }
    put(root, found, "environment", environment);
    return List.copyOf(found.values());
  }

  private static String value(List<String> lines, String start) {
    return lines.stream()
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(start.length()))
        .findFirst()
        .orElse("");
  }

  private static String relative(String path) {
    return path.replaceFirst("^/+", "");
  }

  private static void put(
      Root root, Map<String, EnvironmentVariable> found, String origin, List<String> lines) {
    for (String line : lines) {
      int equals = line.indexOf('=');
      if (equals > 0 && WANTED.matcher(line.substring(0, equals).strip()).matches()) {
        String name = line.substring(0, equals).strip();
        String value = line.substring(equals + 1).strip();
        boolean missing = FILES.contains(name) && !value.isEmpty() && !root.exists(relative(value));
        found.put(name, new EnvironmentVariable(name, value, origin, missing));
      }
    }
  }
}
