package dev.doorbell.doctor.facts;

import java.util.List;
import java.util.Map;

/**
 * The machine and the kernel that this process runs under.
 *
 * @param kernel as {@code uname -r} says it
 * @param bootLine the kernel's command line, in words
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
    List<String> bootLine,
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

  public HostFacts {
    bootLine = List.copyOf(bootLine);
    kernelOptions = Map.copyOf(kernelOptions);
    modules = Map.copyOf(modules);
  }

  /** Whether the module is in the kernel. */
  public boolean loaded(String module) {
    return modules.containsKey(module);
  }

  /** Whether {@code user} is among the modules that use {@code module}. */
  public boolean uses(String user, String module) {
    return modules.getOrDefault(module, List.of()).contains(user);
  }

  /** Whether the kernel's release is at least {@code major.minor}. */
  public boolean kernelAtLeast(int major, int minor) {
    String[] parts = kernel.split("[.\\-+]", 3);
    int hasMajor = parts.length > 0 ? Versions.number(parts[0]) : 0;
    int hasMinor = parts.length > 1 ? Versions.number(parts[1]) : 0;
    return hasMajor > major || (hasMajor == major && hasMinor >= minor);
  }
}
