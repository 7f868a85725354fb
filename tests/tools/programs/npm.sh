# A package is packed and installed from its tarball, offline, with a script that runs on install.
# needs npm: no npm here
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false
    export npm_config_update_notifier npm_config_audit npm_config_fund
    mkdir dep app
    cat >dep/package.json <<'END'
{"name": "dep", "version": "1.0.0", "bin": "dep.js", "main": "dep.js",
 "scripts": {"postinstall": "node -e \"require('fs').writeFileSync('installed', 'yes')\""}}
END
    printf '#!/usr/bin/env node\nconsole.log("dep", require("./package.json").version)\n' >dep/dep.js
    chmod 755 dep/dep.js
    (cd dep && npm pack --silent)
    cd app
    echo '{"name": "app", "version": "1.0.0", "scripts": {"hello": "dep && echo $npm_package_name"}}' \
        >package.json
    npm install --offline --silent ../dep/dep-1.0.0.tgz
    npm ls --parseable | wc -l
    npm run --silent hello
    npx --offline dep
    cat node_modules/dep/installed
    npm uninstall --offline --silent dep
}

outside()
{
    mkdir package && cd package
    printf '{"name": "x", "version": "1.0.0", "scripts": {"steal": "cp %s/secret stolen"}}' "$OUT" \
        >package.json
    npm run --silent steal
}
