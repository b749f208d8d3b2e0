/** The PCI paths between GPUs and HCAs, derived from the kernel's device tree. */
@NullMarked
package dev.doorbell.doctor.topology;

import org.jspecify.annotations.NullMarked;
