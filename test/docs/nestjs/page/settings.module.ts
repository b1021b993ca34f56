import { Injectable, Module } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { CronlatchModule, type CronlatchOptions } from 'cronlatch/nestjs';

@Injectable()
class Settings {
  readonly longestJob = '2h';
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

export const withSettings = CronlatchModule.forRootAsync({
  imports: [SettingsModule],
  inject: [Settings],
  dataSource: getDataSourceToken('jobs'),
  useFactory: (settings: Settings): CronlatchOptions => ({ defaultLockAtMostFor: settings.longestJob }),
});
