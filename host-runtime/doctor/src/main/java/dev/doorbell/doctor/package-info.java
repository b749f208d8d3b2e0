/**
 * Examines whether this machine can do GPUDirect RDMA, and what prevents or slows it.
 *
 * <p>The stages: {@code facts} reads files; {@code topology} derives PCI paths; {@code check}
 * compares facts with rules and reports codes of the {@code catalogue}; {@code report} prints the
 * {@link dev.doorbell.doctor.Diagnosis}. {@code log} explains lines of other libraries' logs.
 * Nothing here touches hardware.
 */
@NullMarked
package dev.doorbell.doctor;

import org.jspecify.annotations.NullMarked;
