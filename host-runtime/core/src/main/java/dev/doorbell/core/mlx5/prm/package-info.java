/**
 * Firmware commands of mlx5 as bytes: what DEVX hands to a device, and what the server of the
 * preload library reads. Field names and layouts are those of the Programmer's Reference Manual, as
 * Linux's include/linux/mlx5/mlx5_ifc.h has them.
 */
@NullMarked
package dev.doorbell.core.mlx5.prm;

import org.jspecify.annotations.NullMarked;
