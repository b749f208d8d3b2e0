package dev.doorbell.doctor.facts;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * NVIDIA's kernel driver as it presents itself below {@code /proc/driver/nvidia}.
 *
 * @param version empty when the driver is not loaded
 * @param open whether the open kernel modules are loaded
 * @param parameters of the module, by name
 * @param controlNode whether {@code /dev/nvidiactl} is there for this process
 * @param library version of the newest {@code libcuda.so} found, empty where there is none
 */
public record NvidiaDriver(
    Optional<String> version,
    boolean open,
    Map<String, String> parameters,
    boolean controlNode,
    Optional<String> library) {
  private static final Pattern VERSION = Pattern.compile("\\b(\\d{3,4}\\.\\d+(\\.\\d+)?)\\b");
  private static final Pattern LIBRARY = Pattern.compile("libcuda\\.so\\.(\\d{3,4}\\.[\\d.]+)");

  public NvidiaDriver {
    parameters = Map.copyOf(parameters);
  }

  public boolean loaded() {
    return version.isPresent();
  }

  static NvidiaDriver read(Root root) {
    String text = root.text("proc/driver/nvidia/version").orElse("");
    Matcher version = VERSION.matcher(text);
    return new NvidiaDriver(
        version.find() ? Optional.of(version.group(1)) : Optional.empty(),
        text.contains("Open Kernel Module"),
        parameters(root),
        root.exists("dev/nvidiactl"),
        RdmaLibraries.folders()
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
}
