package dev.doorbell.core;

import java.util.List;

/**
 * Whether a back end can be used on this machine; found out before a native class loads, because
 * absence is a value and not a crash.
 */
public sealed interface Probe {
  /** One line for people: what was found or is missing, and what to do about it. */
  String describe();

  /** A library that comes with the driver is not there. */
  record NoDriver(String library, String fix) implements Probe {
    @Override
    public String describe() {
      return "%s not found; %s".formatted(library, fix);
    }
  }

  /** The driver answers, but there is no device. */
  record NoDevice(String driver, String fix) implements Probe {
    @Override
    public String describe() {
      return "%s is there, but no device; %s".formatted(driver, fix);
    }
  }

  /** The library is there and lacks functions that are needed. */
  record MissingSymbols(String library, List<String> symbols, String fix) implements Probe {
    public MissingSymbols {
      symbols = List.copyOf(symbols);
    }

    @Override
    public String describe() {
      return "%s lacks %s; %s".formatted(library, String.join(", ", symbols), fix);
    }
  }

  /** The library is there, but this kernel has nothing that it could talk to. */
  record NoKernelSupport(String what, String fix) implements Probe {
    @Override
    public String describe() {
      return "this kernel has no %s; %s".formatted(what, fix);
    }
  }

  /** There are devices, but none of the kind that is needed. */
  record OtherDevices(String needed, List<String> found, String fix) implements Probe {
    public OtherDevices {
      found = List.copyOf(found);
    }

    @Override
    public String describe() {
      return "no %s device, only %s; %s".formatted(needed, String.join(", ", found), fix);
    }
  }

  /** It can be used. */
  record Ready(String version, List<String> devices) implements Probe {
    public Ready {
      devices = List.copyOf(devices);
    }

    @Override
    public String describe() {
      return "%s: %s".formatted(version, String.join(", ", devices));
    }
  }
}
