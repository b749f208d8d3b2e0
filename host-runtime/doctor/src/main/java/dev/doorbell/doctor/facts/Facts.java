package dev.doorbell.doctor.facts;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** All facts about a machine that the checks read. */
public record Facts(
    HostFacts host,
    NvidiaDriver driver,
    PeerMemory peerMemory,
    RdmaLibraries libraries,
    List<PciFunction> functions,
    List<RdmaDevice> rdmaDevices,
    List<EnvironmentVariable> variables) {

  public Facts {
    functions = List.copyOf(functions);
    rdmaDevices = List.copyOf(rdmaDevices);
    variables = List.copyOf(variables);
  }

  /**
   * Reads a machine.
   *
   * @param root {@code /} for this one, else a folder that has its {@code proc}, {@code sys} ...
   */
  public static Facts read(Path root) {
    Root files = new Root(root);
    HostFacts host = HostFacts.read(files);
    return new Facts(
        host,
        NvidiaDriver.read(files),
        PeerMemory.read(files),
        RdmaLibraries.read(files),
        PciFunction.read(files),
        RdmaDevice.read(files),
        EnvironmentVariable.read(files));
  }

  public List<PciFunction> gpus() {
    return functions.stream().filter(PciFunction::nvidiaGpu).toList();
  }

  /** RDMA devices that are hardware. */
  public List<RdmaDevice> hcas() {
    return rdmaDevices.stream().filter(device -> device.pciAddress().isPresent()).toList();
  }

  public Optional<PciFunction> function(String address) {
    return functions.stream().filter(function -> function.address().equals(address)).findFirst();
  }

  /** The PCI functions of all HCAs. */
  public List<PciFunction> nics() {
    return hcas().stream()
        .flatMap(hca -> hca.pciAddress().flatMap(this::function).stream())
        .distinct()
        .toList();
  }

  public Optional<String> variable(String name) {
    return variables.stream()
        .filter(variable -> variable.name().equals(name))
        .map(EnvironmentVariable::value)
        .findFirst();
  }
}
