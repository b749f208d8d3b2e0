package dev.doorbell.doctor.facts;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads {@link NvidiaDriver} and {@link PeerMemory}. */
final class DriverReader {
  private static final Pattern VERSION = Pattern.compile("\\b(\\d{3,4}\\.\\d+(\\.\\d+)?)\\b");
  private static final Pattern LIBRARY = Pattern.compile("libcuda\\.so\\.(\\d{3,4}\\.[\\d.]+)");
  private static final String PEERS = "sys/kernel/mm/memory_peers";

  private DriverReader() {}

  static NvidiaDriver driver(Root root) {
    String text = root.text("proc/driver/nvidia/version").orElse("");
    Matcher version = VERSION.matcher(text);
    return new NvidiaDriver(
        version.find() ? Optional.of(version.group(1)) : Optional.empty(),
        text.contains("Open Kernel Module"),
        parameters(root),
        root.exists("dev/nvidiactl"),
        LibraryReader.folders()
            .flatMap(folder -> root.names(folder).stream())
            .map(LIBRARY::matcher)
            .filter(Matcher::matches)
            .map(matcher -> matcher.group(1))
            .max(Versions.ORDER));
  }

  private static Map<String, String> parameters(Root root) {
    Map<String, String> parameters = new HashMap<>();
    for (String line : root.lines("proc/driver/nvidia/params")) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        parameters.put(line.substring(0, colon), line.substring(colon + 1).strip());
      }
    }
    return parameters;
  }

  static PeerMemory peerMemory(Root root) {
    List<String> clients =
        root.names(PEERS).stream()
            .filter(name -> root.exists(PEERS + "/" + name + "/version"))
            .toList();
    return new PeerMemory(
        clients, root.exists(PEERS), root.exists("sys/module/nvidia_peermem/version"));
  }
}
