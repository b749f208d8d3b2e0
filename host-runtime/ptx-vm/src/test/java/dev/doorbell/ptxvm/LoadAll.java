package dev.doorbell.ptxvm;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.*;
import dev.doorbell.core.memory.*;
import dev.doorbell.ptxvm.launch.*;
import java.nio.file.*;

public final class LoadAll {
  public static void main(String[] args) throws Exception {
    try (DirectFabric fabric = new DirectFabric();
        VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0))) {
      for (String a : args) {
        long t0 = System.nanoTime();
        try {
          GpuModule m = gpu.load(a.substring(a.lastIndexOf('/') + 1), Files.readString(Path.of(a)));
          System.out.println(a + " " + m.entries() + " " + (System.nanoTime() - t0) / 1000 + " us");
        } catch (GpuException e) {
          System.out.println(e.getMessage());
        }
      }
    }
  }
}
