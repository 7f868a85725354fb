/* SPDX-License-Identifier: MIT */
/* A shared object that may be preloaded, opened, and used as an auditor of the loader. */
unsigned la_version(unsigned version);

__attribute__((visibility("default"))) unsigned la_version(unsigned version)
{
    return version;
}
