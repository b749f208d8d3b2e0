/**
 * Whether this machine can do GPUDirect RDMA, and whether it does it well: each check is a function
 * from facts to findings, and each finding has a stable code that says how it is known, what it
 * means and what mends it. Nothing here touches hardware.
 */
@NullMarked
package dev.doorbell.experiments.doctor;

import org.jspecify.annotations.NullMarked;
