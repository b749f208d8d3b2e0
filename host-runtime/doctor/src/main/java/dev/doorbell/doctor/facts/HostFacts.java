package dev.doorbell.doctor.facts;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The machine and the kernel that this process runs under.
 *
 * @param kernel as {@code uname -r} says it
 * @param kernelOptions options of the kernel's build that its configuration file names; empty where
 *     there is no such file
 * @param cpuVendor as the processor names it, such as {@code GenuineIntel}
 * @param cpuModel in words
 * @param virtualMachine whether the processor reports a hypervisor
 * @param product what the firmware calls the machine
 * @param container whether signs of a container were found
 * @param numaNodes with at least one CPU or memory
 * @param lockedBytes how much memory the process may lock; negative when there is no limit
 * @param mayLockAll whether the process has CAP_IPC_LOCK, which lifts that limit
 * @param modules loaded kernel modules, and who uses each
 */
public record HostFacts(
    String kernel,
    Map<String, String> kernelOptions,
    String cpuVendor,
    String cpuModel,
    boolean virtualMachine,
    String product,
    boolean container,
    int numaNodes,
    long lockedBytes,
    boolean mayLockAll,
    Map<String, List<String>> modules) {
  private static final int IPC_LOCK = 14;
  private static final List<String> CONTAINER_WORDS =
      List.of("docker", "kubepods", "containerd", "libpod", "lxc");

  public HostFacts {
    kernelOptions = Map.copyOf(kernelOptions);
    modules = Map.copyOf(modules);
  }

  /** Returns true if the module is in the kernel. */
  public boolean loaded(String module) {
    return modules.containsKey(module);
  }

  /** Returns true if {@code user} is among the modules that use {@code module}. */
  public boolean uses(String user, String module) {
    return modules.getOrDefault(module, List.of()).contains(user);
  }

  /** Returns true if the kernel's release is at least {@code major.minor}. */
  public boolean kernelAtLeast(int major, int minor) {
    String[] parts = kernel.split("[.\\-+]", 3);
    int hasMajor = parts.length > 0 ? Versions.number(parts[0]) : 0;
    int hasMinor = parts.length > 1 ? Versions.number(parts[1]) : 0;
    return hasMajor > major || (hasMajor == major && hasMinor >= minor);
  }

  static HostFacts read(Root root) {
    String kernel = root.text("proc/sys/kernel/osrelease").orElse("");
    return new HostFacts(
        kernel,
        options(root, kernel),
        cpu(root, "vendor_id").orElse(""),
        cpu(root, "model name").orElse(""),
        cpu(root, "flags").map(flags -> (" " + flags + " ").contains(" hypervisor ")).orElse(false)
            || root.exists("sys/hypervisor/uuid"),
        root.text("sys/class/dmi/id/product_name").orElse(""),
        container(root),
        Math.max(
            1,
            (int)
                root.names("sys/devices/system/node").stream()
                    .filter(name -> name.matches("node\\d+"))
                    .count()),
        locked(root),
        mayLockAll(root),
        modules(root));
  }

  private static Optional<String> cpu(Root root, String key) {
    return after(root.lines("proc/cpuinfo"), key);
  }

  /** Returns the text after the colon of the first line with this key. */
  private static Optional<String> after(List<String> lines, String key) {
    return lines.stream()
        .filter(line -> line.startsWith(key))
        .filter(line -> line.indexOf(':') > 0)
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .findFirst();
  }

  private static Map<String, String> options(Root root, String kernel) {
    Map<String, String> options = new HashMap<>();
    for (String line : root.lines("boot/config-" + kernel)) {
      int equals = line.indexOf('=');
      if (line.startsWith("CONFIG_") && equals > 0) {
        options.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    return options;
  }

  private static boolean container(Root root) {
    if (root.exists(".dockerenv") || root.exists("run/.containerenv")) {
      return true;
    }
    String groups = root.text("proc/1/cgroup").orElse("");
    return CONTAINER_WORDS.stream().anyMatch(groups::contains);
  }

  /** The soft limit; a process that raises it itself has done so by now. */
  private static long locked(Root root) {
    String key = "Max locked memory";
    return root.lines("proc/self/limits").stream()
        .filter(line -> line.startsWith(key))
        .map(line -> line.substring(key.length()).strip().split("\\s+", 2)[0])
        .filter(word -> word.matches("\\d{1,18}"))
        .map(Long::parseLong)
        .findFirst()
        .orElse(-1L);
  }

  private static boolean mayLockAll(Root root) {
    return after(root.lines("proc/self/status"), "CapEff")
        .filter(word -> word.matches("[0-9a-fA-F]{1,16}"))
        .map(word -> (Long.parseUnsignedLong(word, 16) >> IPC_LOCK & 1) != 0)
        .orElse(false);
  }

  /** Lines such as {@code ib_core 491520 3 rdma_cm,ib_uverbs,nvidia_peermem, Live 0x0}. */
  private static Map<String, List<String>> modules(Root root) {
    Map<String, List<String>> modules = new HashMap<>();
    for (String line : root.lines("proc/modules")) {
      String[] words = line.split(" ", 5);
      if (words.length >= 4) {
        modules.put(words[0], words[3].equals("-") ? List.of() : List.of(words[3].split(",")));
      }
    }
    return modules;
  }
}
